/** Keystores of version 3 (Web3 Secret Storage), which Foundry and others read and write. */

import * as Address from 'ox/Address'
import * as Keystore from 'ox/Keystore'
import * as Secp256k1 from 'ox/Secp256k1'
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'

/** What deriving a key may take: those of all known tools are far below. */
const maxMemoryFactor = 2 ** 24
const maxIterations = 10_000_000

const hex = (bytes: number): z.ZodString =>
  z.string().regex(new RegExp(`^[0-9a-fA-F]{${2 * bytes}}$`))
const cipher = {
  cipher: z.literal('aes-128-ctr'),
  ciphertext: hex(32),
  cipherparams: z.object({ iv: hex(16) }),
  mac: hex(32),
}
const salt = z.string().regex(/^(?:[0-9a-fA-F]{2}){1,128}$/)
const crypto = z.discriminatedUnion('kdf', [
  z.object({
    ...cipher,
    kdf: z.literal('scrypt'),
    kdfparams: z
      .object({
        dklen: z.literal(32),
        n: z.int().min(2),
        p: z.int().min(1).max(16),
        r: z.int().min(1).max(16),
        salt,
      })
      .refine(({ n, r, p }) => n * r * p <= maxMemoryFactor && Number.isInteger(Math.log2(n))),
  }),
  z.object({
    ...cipher,
    kdf: z.literal('pbkdf2'),
    kdfparams: z.object({
      dklen: z.literal(32),
      c: z.int().min(1).max(maxIterations),
      prf: z.literal('hmac-sha256'),
      salt,
    }),
  }),
])
const keystoreForm = z.object({
  crypto,
  id: z.string().max(100),
  version: z.literal(3),
  address: z.string().optional(),
})

/** An encrypted private key with its address. */
export interface StoredKey {
  /** The keystore as JSON. */
  readonly text: string
  /** With the checksum of EIP-55. */
  readonly address: string
}

/** Encrypts a private key, 0x and 64 digits. Takes about a second. */
export function toKeystore(privateKey: string, password: string): StoredKey {
  const [key, options] = Keystore.scrypt({ password })
  const keystore = Keystore.encrypt(privateKey as `0x${string}`, key, options)
  const address = addressOf(privateKey)
  return { text: toText(keystore, address), address }
}

/**
 * The private key of a keystore.
 * @throws ServiceError `TOOLKIT_WALLET_INVALID`, `TOOLKIT_WALLET_LOCKED` with a wrong password
 */
export function fromKeystore(text: string, password: string, place: string): string {
  const keystore = parseKeystore(text, place)
  try {
    return Keystore.decrypt(keystore, Keystore.toKey(keystore, { password }))
  } catch (cause) {
    throw new ServiceError('TOOLKIT_WALLET_LOCKED', `the password does not open ${place}`, {
      remedy: 'Give the password it was made with; nobody can recover another one.',
      cause,
    })
  }
}

/** A keystore of another tool as we keep it: with its address, which Foundry leaves out. */
export function adoptKeystore(text: string, privateKey: string, place: string): StoredKey {
  const address = addressOf(privateKey)
  return { text: toText(parseKeystore(text, place), address), address }
}

/** The address in a keystore; null where it was left out. It is a note: only the key proves it. */
export function addressIn(text: string, place: string): string | null {
  const { address } = readForm(text, place)
  const digits = /^(?:0x)?([0-9a-fA-F]{40})$/.exec(address ?? '')?.[1]
  return digits === undefined ? null : Address.checksum(`0x${digits}`)
}

/** The address of a private key, with the checksum of EIP-55. */
export function addressOf(privateKey: string): string {
  const publicKey = Secp256k1.getPublicKey({ privateKey: privateKey as `0x${string}` })
  return Address.fromPublicKey(publicKey, { checksum: true })
}

/**
 * A private key as people write it, as 0x and 64 digits.
 * @throws ServiceError `TOOLKIT_WALLET_INVALID`; the text is not in it
 */
export function parsePrivateKey(text: string, place: string): string {
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())?.[1]?.toLowerCase()
  try {
    if (digits !== undefined && addressOf(`0x${digits}`) !== '') return `0x${digits}`
  } catch {
    // Not a number below the order of the curve.
  }
  throw new ServiceError('TOOLKIT_WALLET_INVALID', `${place} holds no private key`, {
    remedy: 'A private key is 64 hex digits, with or without 0x.',
  })
}

type Form = z.infer<typeof keystoreForm>

function parseKeystore(text: string, place: string): Keystore.Keystore {
  const { crypto, id } = readForm(text, place)
  return { crypto, id, version: 3 } as Keystore.Keystore
}

function readForm(text: string, place: string): Form {
  try {
    return keystoreForm.parse(JSON.parse(text))
  } catch {
    throw new ServiceError('TOOLKIT_WALLET_INVALID', `${place} is not a keystore of version 3`, {
      remedy:
        'Give a file as Foundry (cast wallet import) writes it; other forms are imported by their private key.',
    })
  }
}

function toText(keystore: Keystore.Keystore, address: string): string {
  const noted = { address: address.slice(2).toLowerCase(), ...keystore }
  return `${JSON.stringify(noted, null, 2)}\n`
}
