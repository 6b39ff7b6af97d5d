from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):
    pass
