/** The kind of settings that name an account of an EVM chain. */
import { checksumAddress } from '../../primitives/checksum-address.ts'
import { kind, type SettingKind, scalarText } from './setting-kinds.ts'

/** The address of an account, returned with the checksum of EIP-55; a wrong checksum is refused. */
export const account: SettingKind<string> = kind(
  'an address: 0x and 40 hex digits, in one case or with the checksum of EIP-55',
  (value) => {
    const found = scalarText(value)
    if (found === undefined || !/^0x[0-9a-f]{40}$/i.test(found)) return undefined
    const digits = found.slice(2)
    const checked = checksumAddress(found.toLowerCase())
    const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
    return isOneCase || found === checked ? checked : undefined
  },
)
