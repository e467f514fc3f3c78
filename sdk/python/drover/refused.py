"""Requests that are not answered with an outcome."""


class Refused(Exception):
    """A request is not a genuine call, not meant for this function, or late.

    The response is not signed, so it decides nothing: the gateway calls again. The message has no part of the request.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
