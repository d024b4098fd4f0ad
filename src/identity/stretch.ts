/** The slow step between the keyring secret and any key: one guess costs 128 MiB and a third of a second. */
import { hkdfSync, scrypt } from 'node:crypto'
import { promisify } from 'node:util'

const scryptAsync = promisify<string, Uint8Array | string, number, object, Buffer>(scrypt)

/** scrypt (RFC 7914) with N = 2^17, r = 8, p = 1: 32 bytes. */
export function stretch(secret: string, salt: Uint8Array | string): Promise<Buffer> {
  return scryptAsync(secret, salt, 32, { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 })
}

/**
 * The 32-byte seed of libp2p's Ed25519 key: stretched, so that the public peer ID is no fast
 * oracle for guessing the secret; expanded (HKDF-SHA256, RFC 5869) with the program's name, so
 * that one secret gives Generator and Host different peer IDs.
 */
export async function derivePeerSeed(secret: string, program: string): Promise<Uint8Array> {
  const stretched = await stretch(secret, 'viewmesh/libp2p/1')
  return new Uint8Array(hkdfSync('sha256', stretched, new Uint8Array(), program, 32))
}
