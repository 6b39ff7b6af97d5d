class CodedError(Exception):
    """`code` is a stable name of the fault; the message is for a person."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
