import pytest
from django import forms

from production.settings_form import LongText, SettingsForm, Text, between


class Example(SettingsForm):
    secrets = ("key",)

    host = Text(label="Host")
    port = forms.IntegerField(initial=22, validators=[between(1, 65535)])
    key = LongText(required=False)
    flat = forms.BooleanField(required=False)
    layout = forms.ChoiceField(choices=[("a", "A"), ("b", "B")], initial="a")
    margin = forms.FloatField(required=False)


def test_strings_of_a_form_become_values_with_defaults() -> None:
    values = Example({"host": " sftp.example.com ", "port": "2222", "flat": "on", "margin": "2.5"}).read()
    assert values == {
        "host": "sftp.example.com",
        "port": 2222,
        "key": "",
        "flat": True,
        "layout": "a",
        "margin": 2.5,
    }


def test_stored_values_are_read_back_unchanged() -> None:
    values = Example({"host": "a", "port": 2222, "key": "x\ny", "flat": True, "margin": 450.0}).read()
    assert Example(values).read() == values


def test_each_mistake_is_named_at_its_field() -> None:
    mistakes = Example({"port": "70000", "layout": "c", "margin": "NaN", "tls": "x"}).mistakes
    assert mistakes == {
        "host": "This field is required.",
        "port": "It must lie between 1 and 65535.",
        "layout": "Select a valid choice. c is not one of the available choices.",
        "margin": "Enter a number.",
        "__all__": "There is no setting tls.",
    }


@pytest.mark.parametrize("value", ["a\nb", "a\x00b", "x" * 501])
def test_text_refuses_what_is_no_line_of_text(value: str) -> None:
    assert "host" in Example({"host": value}).mistakes
    assert "key" not in Example({"host": "a", "key": value.replace("\x00", "")}).mistakes


def test_settings_without_secrets_are_read_without_them() -> None:
    assert "key" not in Example({"host": "a"}, has_secrets=False).read()


def test_wrong_settings_raise_with_the_name_of_the_field() -> None:
    with pytest.raises(ValueError, match=r"^host: This field is required\.$"):
        Example({}).read()
