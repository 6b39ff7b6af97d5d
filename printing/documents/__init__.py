"""Print-ready PDFs: examined when they are uploaded, and laid out on the pages of a product without scaling.

Both happen in a process of their own with limits of memory and time: a file of some kilobytes can unpack to gigabytes.
"""

from printing.documents.examining import MAX_DOCUMENT_BYTES, MAX_PAGES, DocumentRefused, examine_document
from printing.documents.placing import PlacedDocument, Target, place_document
