"""Notifications as people see them."""


def test_the_page(browser):
    ada = browser()
    ada.join("ada")
    page = ada.get("/settings/notifications")
    assert page.status_code == 200
