/** What pages leave to the reader, as `<peer ID>`, and what a test puts there. */

const samples: Readonly<Record<string, string>> = {
  '<peer ID>': '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5',
  '<identity>': `02${'ab'.repeat(32)}`,
  '<API key>': 'key',
  '<IP>': '203.0.113.7',
}

/** The text with a sample in each place. */
export function withoutPlaceholders(text: string): string {
  return text.replaceAll(/<(?:peer ID|identity|API key|IP)>/g, (name) => samples[name] ?? name)
}
