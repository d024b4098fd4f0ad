/** Names in Solidity: letters, digits, underscores and dollars, so that they need no escaping anywhere. */
import { Span } from '../sdk/span'

export function isIdentifier(name: Span): bool {
  for (let index: usize = 0; index < name.length; index++) {
    const byte = load<u8>(name.at + index)
    const lower = byte | 0x20
    const isKnown =
      (lower >= 0x61 && lower <= 0x7a) ||
      byte === 0x5f ||
      byte === 0x24 ||
      (byte >= 0x30 && byte <= 0x39)
    if (!isKnown || (index === 0 && byte >= 0x30 && byte <= 0x39)) return false
  }
  return name.length > 0
}
