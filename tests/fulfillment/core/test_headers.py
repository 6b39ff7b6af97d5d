from django.http import HttpResponse

from fulfillment.core.headers import add_missing, checked, set_headers


def test_headers_are_set_once_in_any_case():
    response = HttpResponse(headers={"x-request-id": "old", "ETag": '"a"'})

    set_headers(response, {"X-Request-ID": "new"})

    assert response.headers["x-request-id"] == "new"
    assert list(response.items()) == [
        ("X-Request-ID", "new"),
        ("ETag", '"a"'),
        ("Content-Type", "text/html; charset=utf-8"),
    ]


def test_headers_of_a_view_are_kept():
    response = HttpResponse(headers={"Content-Security-Policy": "default-src 'self'"})

    add_missing(
        response, checked(HttpResponse(headers={"content-security-policy": "default-src *", "A": "1"}))
    )

    assert response.headers["Content-Security-Policy"] == "default-src 'self'"
    assert response.headers["A"] == "1"


def test_headers_that_were_added_are_of_one_response_alone():
    constant = checked(HttpResponse(headers={"A": "1"}))
    first, second = HttpResponse(), HttpResponse()
    add_missing(first, constant)
    set_headers(first, {"A": "2"})
    add_missing(second, constant)

    assert (first.headers["A"], second.headers["A"]) == ("2", "1")
