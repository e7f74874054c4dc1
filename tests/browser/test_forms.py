"""Errors of a field are shown beside it, in the page's words, before anything is sent."""

from playwright.sync_api import expect

from tests.browser.people import PHONE


def test_a_form_says_beside_each_field_what_is_wrong_with_it(guest):
    page = guest().page
    page.goto("/register")
    page.get_by_label("Username").fill("fedora")
    page.get_by_label("Email", exact=True).fill("fedora@")
    password = page.get_by_label("Password")
    password.fill("short")
    page.get_by_role("main").get_by_role("button", name="Join").click()
    mail = page.get_by_label("Email", exact=True)
    expect(mail).to_be_focused()
    expect(mail).to_have_accessible_description(
        "Never shown or published. Enter a full mail address, such as name@example.org."
    )
    expect(password).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#f-password-error")).to_have_text("Too short: 5 of at least 10 characters.")
    expect(page.locator("#f-agree-error")).to_have_text("Tick this box to continue.")
    expect(page.locator("#f-username-error")).to_be_hidden()
    password.press_sequentially("er")
    expect(page.locator("#f-password-error")).to_have_text("Too short: 7 of at least 10 characters.")
    password.fill("long enough by now")
    expect(page.locator("#f-password-error")).to_be_hidden()
    expect(password).not_to_have_attribute("aria-invalid", "true")


def test_it_is_said_in_the_language_of_the_page(guest):
    page = guest(locale="es-ES", viewport=PHONE).page
    page.goto("/")
    page.locator("#trybox textarea").fill("")  # instead of the seed that it begins with
    page.locator("#trybox [data-primary]").click()
    expect(page.locator("#trybox .field-error").first).to_have_text("Rellena esto.")
    group = page.locator("#trybox fieldset")
    expect(group).to_have_accessible_description("Elige una.")
    group.get_by_role("radio").first.check(force=True)
    expect(group).to_have_accessible_description("")


def test_without_scripts_the_server_says_it(guest):
    person = guest(java_script_enabled=False)
    page = person.page
    page.goto("/register")
    page.get_by_label("Username").fill("fedora")
    page.get_by_label("Email", exact=True).fill("fedora@nowhere")
    page.get_by_label("Password").fill("1234567890")
    page.locator("[name=agree]").check()
    page.get_by_role("main").get_by_role("button", name="Join").click()
    expect(page.get_by_label("Email", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Email", exact=True)).to_have_value("fedora@nowhere")
    expect(page.locator("#f-email-error")).to_have_text("Enter a full mail address, such as name@example.org.")
    expect(page.locator("#f-password-error")).to_contain_text("easy to guess")
    person.forgive("422")
