"""Settings in a real browser: the language by hand, the group in the address, a key that ends with the visit."""

from __future__ import annotations

import pytest
from browsing import Browsing

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEY = "sk-secret-4711-abcd"


def test_what_is_changed_survives_a_reload_and_a_key_of_the_visit_does_not(browsing: Browsing, app: str) -> None:
    page = browsing.page
    page.goto(f"{app}/settings?group=appearance")
    page.get_by_role("strong").filter(has_text="Language of this page").wait_for(timeout=90_000)
    page.locator(".st-key-set-language").get_by_text("中文", exact=True).click()
    page.get_by_role("heading", name="设置").wait_for()
    page.locator(".st-key-settings-group").get_by_text("网络").click()
    page.get_by_text("由谁搜索网络").wait_for()
    assert "group=web" in page.url
    page.reload()
    page.get_by_text("由谁搜索网络").wait_for(timeout=60_000)
    page.locator(".st-key-set-web_provider [role=combobox]").click()
    page.get_by_role("option", name="Tavily").click()
    page.get_by_text("Tavily 需要密钥").wait_for()
    field = page.locator(".st-key-key-tavily_api_key input")
    assert field.get_attribute("type") == "password"
    field.fill(KEY)
    page.locator(".st-key-use-tavily_api_key button").first.click()
    page.get_by_text("末尾为 …abcd").wait_for()
    browsing.settled()
    assert KEY not in page.content()
    assert page.get_by_text("Tavily 需要密钥").count() == 0
    page.reload()
    page.get_by_text("Tavily 需要密钥").wait_for(timeout=60_000)
    assert browsing.foreign() == []
