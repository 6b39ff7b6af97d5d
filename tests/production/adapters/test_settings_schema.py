import pytest

from production.settings_schema import SettingField, between, check_settings, clean_settings

FIELDS = [
    SettingField("host", "Host"),
    SettingField("port", "Port", "integer", default=22, check=between(1, 65535)),
    SettingField("key", "Private key", "long_text", required=False, secret=True),
    SettingField("flat", "One flat folder", "boolean", required=False),
    SettingField("layout", "Layout", "choice", choices=[("a", "A"), ("b", "B")], default="a"),
    SettingField("margin", "Margin", "decimal", required=False),
]


def test_strings_of_a_form_become_values_with_defaults() -> None:
    values = clean_settings(
        FIELDS, {"host": " sftp.example.com ", "port": "2222", "flat": "on", "margin": "2.5"}
    )
    assert values == {
        "host": "sftp.example.com",
        "port": 2222,
        "key": "",
        "flat": True,
        "layout": "a",
        "margin": 2.5,
    }


def test_each_mistake_is_named_at_its_field() -> None:
    errors = check_settings(FIELDS, {"port": "70000", "layout": "c", "margin": "NaN", "flat": 7, "tls": "x"})
    assert errors == {
        "tls": "Unknown setting.",
        "host": "This setting is required.",
        "port": "It must lie between 1 and 65535.",
        "flat": "Choose yes or no.",
        "layout": "Choose one of: a, b.",
        "margin": "Enter a number, such as 2.5.",
    }


@pytest.mark.parametrize("value", ["a\nb", "a\x00b", "x" * 501, 7, ["a"]])
def test_text_refuses_what_is_no_line_of_text(value: object) -> None:
    assert "host" in check_settings(FIELDS, {"host": value})


def test_clean_settings_raises_with_the_name_of_the_field() -> None:
    with pytest.raises(ValueError, match=r"^host: This setting is required\.$"):
        clean_settings(FIELDS, {})
