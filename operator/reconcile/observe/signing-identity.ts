/**
 * Identities as programs show them: public keys in lower-case hex without 0x, 33 bytes on secp256k1 or 32 of
 * Ed25519.
 */

/**
 * The identity; null where it has another form. Whether it is a point of its curve makes no difference: what is none
 * cannot sign, and a Host counts what is signed.
 */
export function parseIdentity(value: unknown): string | null {
  return typeof value === 'string' && /^(?:0[23])?[0-9a-f]{64}$/.test(value) ? value : null
}
