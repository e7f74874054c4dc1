"""The file `croissant.json` of a release: its files and columns for programs, as Croissant 1.0 (MLCommons)."""

from typing import Any

import orjson
import pyarrow as pa

from dynabench.benchmark.releases.description import HUB_SPLITS, ReleaseDescription

CROISSANT_CONTEXT: dict[str, Any] = {
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


CROISSANT_TYPES = (
    (pa.types.is_boolean, "sc:Boolean"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
    (pa.types.is_timestamp, "sc:DateTime"),
    (pa.types.is_string, "sc:Text"),
)


def croissant_json(description: ReleaseDescription, columns: pa.Schema) -> bytes:
    """Return the document, with a record set for each part whose columns are plain values."""
    files = [file for file in description.data if file.path.endswith(".parquet")]
    document = {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "name": description.name,
        "alternateName": description.title,
        "description": f"{description.config.description or description.title}\n\n{description.warning}",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": f"https://spdx.org/licenses/{description.licence}.html",
        "url": description.page,
        "version": "1.0.0",
        "citeAs": description.citation,
        "datePublished": description.closed_at,
        "creator": {"@type": "sc:Organization", "name": description.maker, "url": description.page},
        "keywords": ["adversarial", "dynabench", description.kind],
        "isLiveDataset": False,
        "rai:dataCollection": (
            f"Written by people against models, from {description.opened_at} to {description.closed_at}."
        ),
        "rai:annotationsPerItem": description.facts.middle(description.facts.votes),
        "rai:personalSensitiveInformation": ["Writers and validators are pseudonyms of this release alone."],
        "distribution": [_file_object(file.path, file.bytes, file.sha256) for file in description.data],
        "recordSet": [_record_set(file.path, columns) for file in files],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def _file_object(path: str, size: int, sha256: str) -> dict[str, Any]:
    form = "application/x-parquet" if path.endswith(".parquet") else "application/jsonlines"
    return {
        "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path, "contentSize": f"{size} B",
        "encodingFormat": form if path.startswith("data/") else "application/octet-stream", "sha256": sha256,
    }  # fmt: skip


def _record_set(path: str, columns: pa.Schema) -> dict[str, Any]:
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
                "dataType": data_type,
                "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
            }
            for column in columns
            if (data_type := next((name for fits, name in CROISSANT_TYPES if fits(column.type)), None))
        ],
    }
