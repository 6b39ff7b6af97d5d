"""Whether this web process stops: what waits for something ends then."""

import threading

stopping = threading.Event()
