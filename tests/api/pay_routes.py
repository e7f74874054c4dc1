"""The routes of pay and who may use them: that part of `routes.ROUTES`."""

from tests.api.route import Route

PAY: dict[tuple[str, str], Route] = {
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/pay/scheme"): Route("owner", scope="manage"),
    ("PUT", "/api/v1/tasks/{task}/rounds/{n}/pay/scheme"): Route("owner", json={"scheme": {"currency": "USD"}}),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/pay"): Route("owner", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/pay/people"): Route("owner", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/pay/payments"): Route("owner", scope="manage"),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/pay/booking"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/pay/decisions"): Route("owner", json={"act": "approve"}),
    ("GET", "/api/v1/me/pay"): Route("member"),
    ("GET", "/pay"): Route("member"),
    ("GET", "/tasks/{task}/manage/payments"): Route("owner"),
    ("POST", "/tasks/{task}/manage/payments/{n}/decide"): Route("owner", form={"act": "approve", "all": "yes"}),
    ("POST", "/tasks/{task}/manage/payments/{n}/booking"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/payments/{n}/people/{id}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/payments/{n}/people/{id}/cancel/{payment}"): Route("owner", form={"reason": "x"}),
    ("GET", "/tasks/{task}/manage/payments/{n}/payments.csv"): Route("owner"),
    ("GET", "/tasks/{task}/manage/payments/{n}/people.csv"): Route("owner"),
    ("GET", "/tasks/{task}/manage/rounds/{n}/pay"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/pay"): Route("owner", form={"currency": "USD"}),
}
