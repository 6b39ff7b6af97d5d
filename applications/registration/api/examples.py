from drf_spectacular.utils import OpenApiExample

KEY = {
    "ID": "5f0c3c52-7a0b-4b43-9a55-0a2f4b7f5f10",
    "StartDate": "2026-03-01T00:00:00Z",
    "EndDate": "2027-03-01T00:00:00Z",
    "Value": "••••••••x9Qa",
    "_meta": {"Messages": []},
}

KEY_RESPONSE = OpenApiExample("Key", value=KEY, response_only=True)

APPLICATION = OpenApiExample(
    "Application",
    value={
        "ID": "0b5c3a5e-6d6e-4d5a-8f4f-5c9f2f1f7a11",
        "External_ID": "mail-studio-9f2c41d07be3",
        "Name": "Mail Studio",
        "Description": "Designs and orders direct mail",
        "ApplicationURL": "https://mailstudio.example",
        "Created": "2026-03-01T00:00:00Z",
        "Updated": "2026-03-01T00:00:00Z",
        "IsEnabled": True,
        "SupportUrl": "https://mailstudio.example/support",
        "SupportPhone": "+1 801 555 0100",
        "SupportEmail": "support@mailstudio.example",
        "ImplicitFlowAllowed": False,
        "Keys": [KEY],
        "ReplyUrls": ["https://mailstudio.example/oauth/callback"],
        "_meta": {"Messages": []},
    },
    response_only=True,
)

APPLICATION_REQUEST = OpenApiExample(
    "New application with one key",
    value={
        "Name": "Mail Studio",
        "ApplicationURL": "https://mailstudio.example",
        "SupportEmail": "support@mailstudio.example",
        "Keys": [{"EndDate": "2027-03-01T00:00:00Z"}],
        "ReplyUrls": ["https://mailstudio.example/oauth/callback"],
    },
    request_only=True,
)

APPLICATION_CHANGE = OpenApiExample(
    "Disable", value={"IsEnabled": False, "Description": "Closed for maintenance"}, request_only=True
)
