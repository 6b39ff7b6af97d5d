#!/bin/sh
# Makes the cards of this folder with programs of others: a card of 88.9 x 50.8 mm with 3 mm of bleed, and one without.
# Needs inkscape, libreoffice-draw, ghostscript, mupdf-tools, qpdf,
# poppler-utils, chromium, scribus and xvfb. Takes half a minute: sh make.sh
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
card() { # name, bleed in mm
  b=$2
  w=$(echo "88.9 + 2 * $b" | bc); h=$(echo "50.8 + 2 * $b" | bc)
  x=$(echo "12 + $b" | bc); y1=$(echo "20 + $b" | bc); y2=$(echo "34 + $b" | bc); c=$(echo "70 + $b" | bc)
  cat > "$work/$1.svg" <<SVG
<svg xmlns="http://www.w3.org/2000/svg" width="${w}mm" height="${h}mm" viewBox="0 0 $w $h">
<rect width="$w" height="$h" fill="#f2e3c6"/><circle cx="$c" cy="$y1" r="9" fill="#1f4d3a"/>
<text x="$x" y="$y1" font-family="DejaVu Sans" font-size="5" fill="#000000">Dana Whitfield</text>
<text x="$x" y="$y2" font-family="DejaVu Sans" font-size="3.4" fill="#1f4d3a">+1 555 0100</text></svg>
SVG
  cat > "$work/$1.ps" <<PS
%!PS
<< /PageSize [$(echo "$w * 72 / 25.4" | bc -l) $(echo "$h * 72 / 25.4" | bc -l)] >> setpagedevice
72 25.4 div dup scale 0.02 0.08 0.2 0 setcmykcolor 0 0 $w $h rectfill
0.8 0.3 0.7 0.4 setcmykcolor $c $y1 9 0 360 arc fill
0 0 0 1 setcmykcolor /Helvetica findfont 5 scalefont setfont $x $y2 moveto (Dana Whitfield) show
/Times-Roman findfont 4 scalefont setfont $x $y1 moveto (+1 555 0100) show showpage
PS
  s=$work/$1
  inkscape "$s.svg" --export-filename="inkscape$3.pdf" 2> /dev/null
  inkscape "$s.svg" --export-text-to-path --export-filename="inkscape-outlines$3.pdf" 2> /dev/null
  inkscape "$s.svg" --export-pdf-version=1.4 --export-filename="inkscape-1.4$3.pdf" 2> /dev/null
  inkscape "$s.svg" --export-filename="$s-i.eps" 2> /dev/null
  gs="gs -q -dNOPAUSE -dBATCH -dSAFER -sDEVICE=pdfwrite -dEmbedAllFonts=true -dSubsetFonts=true"
  fonts='<< /NeverEmbed [] >> setdistillerparams'
  $gs -sOutputFile="ghostscript$3.pdf" -c "$fonts" -f "$s.ps"
  $gs -dCompatibilityLevel=1.3 -sOutputFile="ghostscript-1.3$3.pdf" -c "$fonts" -f "$s.ps"
  $gs -dCompatibilityLevel=2.0 -sOutputFile="ghostscript-2.0$3.pdf" -c "$fonts" -f "$s.ps"
  $gs -dPDFSETTINGS=/prepress -sOutputFile="ghostscript-prepress$3.pdf" -c "$fonts" -f "$s.ps"
  $gs -dPDFX -sColorConversionStrategy=CMYK -sOutputFile="ghostscript-x$3.pdf" -c "$fonts" -f "$s.ps"
  $gs -sColorConversionStrategy=CMYK -sOutputFile="ghostscript-cmyk$3.pdf" "inkscape-outlines$3.pdf"
  $gs -dNoOutputFonts -sOutputFile="ghostscript-outlines$3.pdf" "$s.ps"
  $gs -dEPSCrop -sOutputFile="inkscape-eps$3.pdf" "$s-i.eps"
  gs -q -dNOPAUSE -dBATCH -dSAFER -sDEVICE=pdfimage32 -r300 -sOutputFile="ghostscript-picture$3.pdf" "$s.ps"
  mutool clean -gggg -z "ghostscript$3.pdf" "mupdf$3.pdf"
  mutool convert -o "mupdf-svg$3.pdf" "$s.svg" > /dev/null 2>&1
  qpdf --object-streams=generate "ghostscript-prepress$3.pdf" "qpdf$3.pdf"
  pdftocairo -pdf "inkscape$3.pdf" "cairo$3.pdf"
  $gs -dPDFA=2 -sColorConversionStrategy=CMYK -sOutputFile="ghostscript-a$3.pdf" -c "$fonts" -f "$s.ps"
  t=$(echo "$b * 72 / 25.4" | bc -l)
  boxes="[ /TrimBox [$t $t $(echo "88.9 * 72 / 25.4 + $t" | bc -l) $(echo "50.8 * 72 / 25.4 + $t" | bc -l)] /PAGES pdfmark"
  $gs -sOutputFile="ghostscript-boxes$3.pdf" -c "$fonts $boxes" -f "$s.ps"
  echo "<style>@page{size:${w}mm ${h}mm;margin:0}body{margin:0}svg{display:block}</style>$(cat "$s.svg")" > "$s.html"
  chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf="chromium$3.pdf" "$s.html" > /dev/null 2>&1
  soffice --headless -env:UserInstallation="file://$work/office" --convert-to pdf:draw_pdf_Export --outdir "$work/lo" "$s.svg" > /dev/null 2>&1
  cp "$work/lo/$1.pdf" "libreoffice$3.pdf"
  scribus_card "scribus$3.pdf" "$b" 15 subset
  scribus_card "scribus-1.3$3.pdf" "$b" 13 subset
  scribus_card "scribus-outlines$3.pdf" "$b" 14 outlines
}
scribus_card() { # file, bleed in mm, version of PDF, fonts
  cat > "$work/card.py" <<PY
from scribus import *
newDocument((88.9, 50.8), (0, 0, 0, 0), PORTRAIT, 1, UNIT_MILLIMETERS, PAGE_1, 0, 1)
defineColorCMYK("Paper", 5, 20, 51, 0)
defineColorCMYK("Forest", 204, 77, 179, 102)
for color, shape in (("Paper", createRect(-$2, -$2, 88.9 + 2 * $2, 50.8 + 2 * $2)), ("Forest", createEllipse(61, 11, 18, 18))):
    setFillColor(color, shape)
    setLineColor("None", shape)
for text, y, size in (("Dana Whitfield", 14, 12), ("+1 555 0100", 30, 9)):
    frame = createText(12, y, 44, 8)
    setText(text, frame)
    setFont("DejaVu Sans Book", frame)
    setFontSize(size, frame)
    setTextColor("Black", frame)
pdf = PDFfile()
pdf.file, pdf.version, pdf.outdst, pdf.pages, pdf.useDocBleeds = "$PWD/$1", $3, 1, [1], False
pdf.bleedl = pdf.bleedr = pdf.bleedt = pdf.bleedb = $2
if "$4" == "subset":
    pdf.fontEmbedding, pdf.fonts, pdf.subsetList = 0, [], ["DejaVu Sans Book"]
else:
    pdf.fontEmbedding = 1
pdf.save()
PY
  xvfb-run -a scribus -g -ns -py "$work/card.py" > /dev/null 2>&1
}
card bled 3 ""
card cut 0 "-no-bleed"
rm -r "$work"
