import pytest
from rest_framework.exceptions import ValidationError

from fulfillment.core.api.serializers import StrictInteger, StrictSerializer, StrictText, validate_data


class Line(StrictSerializer):
    Name = StrictText(max_length=5)
    Count = StrictInteger(min_value=1, required=False)


class Form(StrictSerializer):
    ignored_nulls = True

    Lines = Line(many=True, allow_empty=False, max_length=2)
    Note = StrictText(required=False, allow_blank=True)

    def validate(self, values):
        if values.get("Note") == "no":
            raise ValidationError("Not so.", code="not_so")
        return values


BODIES = [
    {"Lines": [{"Name": "a"}]},
    {"Lines": [{"Name": "a", "Count": 2}, {"Name": "b"}], "Note": "", "_meta": {}},
    {"Lines": [{"Name": "a", "Count": None}], "Note": None},
    {"Lines": []},
    {"Lines": [{}, {"Name": "too long"}]},
    {"Lines": [{"Name": "a"}] * 3, "Nome": 1},
    {"Lines": [{"Name": "\u200b\u00ad"}], "Note": "\u200b"},
    {"Lines": [{"Name": "a"}], "Note": "no"},
    {"Lines": {"Name": "a"}},
    {},
    [],
    None,
    "text",
]


def as_drf_reads(body):
    form = Form(data=body)
    form.is_valid(raise_exception=True)
    return form.validated_data


def outcome(read, body):
    try:
        return read(body)
    except ValidationError as error:
        return error.detail, error.get_codes()


@pytest.mark.parametrize("body", BODIES, ids=str)
def test_form_is_read_as_drf_reads_it(body):
    assert outcome(lambda sent: validate_data(Form, sent), body) == outcome(as_drf_reads, body)


def test_form_keeps_nothing_of_what_it_read_before():
    first = validate_data(Form, {"Lines": [{"Name": "a", "Count": 2}], "Note": "x"})
    with pytest.raises(ValidationError):
        validate_data(Form, {"Lines": [{"Name": 1}]})

    assert validate_data(Form, {"Lines": [{"Name": "b"}]}) == {"Lines": [{"Name": "b"}]}
    assert first == {"Lines": [{"Name": "a", "Count": 2}], "Note": "x"}


@pytest.mark.parametrize("name", ["\u200b", "\u00ad\u3164", "\u2800"], ids=ascii)
def test_invisible_name_is_blank(name):
    with pytest.raises(ValidationError) as refusal:
        validate_data(Form, {"Lines": [{"Name": name}]})

    assert refusal.value.get_codes() == {"Lines": {0: {"Name": ["blank"]}}}
    assert validate_data(Form, {"Lines": [{"Name": f"a{name}"}]})["Lines"][0]["Name"] == f"a{name}"
