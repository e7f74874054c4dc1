"""Croissant metadata: the files and the columns of a release for programs. The vocabulary: Croissant 1.0, MLCommons."""

from typing import Any

import orjson
import pyarrow as pa

from dynabench.releases.describing import HUB_SPLITS, Described

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "conformsTo": "dct:conformsTo",
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
            *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
            "transform",
        )
    },
}
TYPES = ((pa.types.is_boolean, "sc:Boolean"), (pa.types.is_integer, "sc:Integer"), (pa.types.is_floating, "sc:Float"),
         (pa.types.is_timestamp, "sc:DateTime"), (pa.types.is_string, "sc:Text"))  # fmt: skip


def write(of: Described, columns: pa.Schema) -> bytes:
    """The document, with a record set for each part whose columns are plain values."""
    files = [each for each in of.data if each.path.endswith(".parquet")]
    made = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": of.name,
        "alternateName": of.title,
        "description": f"{of.config.description or of.title}\n\n{of.warning}",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": f"https://spdx.org/licenses/{of.licence}.html",
        "url": of.page,
        "version": "1.0.0",
        "citeAs": of.citation,
        "datePublished": of.closed_at,
        "creator": {"@type": "sc:Organization", "name": of.maker, "url": of.page},
        "keywords": ["adversarial", "dynabench", of.kind],
        "isLiveDataset": False,
        "rai:dataCollection": f"Written by people against models, from {of.opened_at} to {of.closed_at}.",
        "rai:annotationsPerItem": of.facts.middle(of.facts.votes),
        "rai:personalSensitiveInformation": ["Writers and validators are pseudonyms of this release alone."],
        "distribution": [_file(each.path, each.bytes, each.sha256) for each in of.data],
        "recordSet": [_records(each.path, columns) for each in files],
    }
    return orjson.dumps(made, option=orjson.OPT_INDENT_2) + b"\n"


def _file(path: str, size: int, sha256: str) -> dict[str, Any]:
    form = "application/x-parquet" if path.endswith(".parquet") else "application/jsonlines"
    return {
        "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path, "contentSize": f"{size} B",
        "encodingFormat": form if path.startswith("data/") else "application/octet-stream", "sha256": sha256,
    }  # fmt: skip


def _records(path: str, columns: pa.Schema) -> dict[str, Any]:
    part = path.removeprefix("data/").removesuffix(".parquet")
    return {
        "@type": "cr:RecordSet",
        "@id": part,
        "name": part,
        "description": f"The split {HUB_SPLITS[part]}." if part in HUB_SPLITS else f"The examples {part}.",
        "key": {"@id": f"{part}/uid"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{part}/{column.name}",
                "name": column.name,
                "description": column.name.replace("_", " "),
                "dataType": found,
                "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
            }
            for column in columns
            if (found := next((name for fits, name in TYPES if fits(column.type)), None))
        ],
    }
