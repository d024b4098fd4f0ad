/** Mnemonics (BIP-39, English) and the first key of Ethereum wallets that follows from them: m/44'/60'/0'/0/0. */
import * as Mnemonic from 'ox/Mnemonic'
import { ServiceError } from '../../errors.ts'

/** 24 words: 256 random bits. */
export function newMnemonic(): string {
  return Mnemonic.random(Mnemonic.english, { strength: 256 })
}

/** The private key of a mnemonic. @throws ServiceError `TOOLKIT_WALLET_INVALID`; the words are not in it */
export function keyOfMnemonic(text: string, place: string): string {
  const words = text.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ')
  if (Mnemonic.validate(words, Mnemonic.english))
    return Mnemonic.toPrivateKey(words, { as: 'Hex', path: Mnemonic.path({ account: 0 }) })
  throw new ServiceError('TOOLKIT_WALLET_INVALID', `${place} holds no valid mnemonic phrase`, {
    remedy: 'Check its 12 to 24 English words and their order; the last one is a checksum.',
  })
}
