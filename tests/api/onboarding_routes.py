"""The routes of onboarding and who may use them: that part of `routes.ROUTES`."""

from tests.api.route import Route

STEP = "/tasks/{task}/onboarding/{activity}"
API = f"/api/v1{STEP}"
ONBOARDING: dict[tuple[str, str], Route] = {
    ("GET", "/tasks/{task}/onboarding"): Route("seated"),
    ("GET", STEP): Route("seated"),
    ("POST", f"{STEP}/screening"): Route("seated", form={}),
    ("POST", f"{STEP}/read"): Route("seated", form={"part": "instructions"}),
    ("POST", f"{STEP}/practice/{{position}}"): Route("seated", form={"answer.label": "neutral"}),
    ("POST", f"{STEP}/quiz"): Route("seated", form={}),
    ("POST", f"{STEP}/quiz/{{attempt}}/{{position}}"): Route("seated", form={"option": "yes"}),
    ("GET", API): Route("seated"),
    ("POST", f"{API}/screening"): Route("seated", json={"answers": {}}),
    ("POST", f"{API}/reading"): Route("seated", json={"part": "instructions"}),
    ("POST", f"{API}/practice"): Route("seated", json={"position": 0, "answer": {"label": "neutral"}}),
    ("POST", f"{API}/attempts"): Route("seated", json={}),
    ("POST", f"{API}/attempts/{{id}}/answers"): Route("seated", json={"position": 0, "option": "yes"}),
    ("GET", "/api/v1/tasks/{task}/onboarded"): Route("moderator"),
    ("PUT", "/api/v1/tasks/{task}/onboarded/{person_id}/{activity}"): Route("moderator"),
    ("DELETE", "/api/v1/tasks/{task}/onboarded/{person_id}/{activity}"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/onboarding"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/onboarding/people.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/onboarding/questions.csv"): Route("owner"),
    ("POST", "/tasks/{task}/manage/onboarding/people/{id}/{activity}/{act}"): Route("moderator", form={}),
}
