/** Transfers of one ERC-20 token (EIP-20), read from logs. */
import { argumentError, takeText } from '../sdk/arguments'
import { bytesOf } from '../sdk/hex'
import { isString, sameTextInAnyCase, Text } from '../sdk/json-text'
import {
  data,
  fields,
  missingField,
  openLog,
  problem,
  readData,
  topicCount,
  topics,
} from '../sdk/log'
import { putByte, putBytes, putText } from '../sdk/output'

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = memory.data<u8>([
  0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa,
  0x95, 0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
])
/** 0x and 40 digits. */
const ADDRESS_LENGTH: usize = 42

/** What `readTransfer` found. */
export const TRANSFER_READ: i32 = 1
export const OTHER_LOG: i32 = 0
export const FAILED: i32 = -1

/** 20 bytes each, where `readTransfer` found a transfer; the amount has 32. */
export const sender: usize = topics + 44
export const recipient: usize = topics + 76
/** The error to answer after `FAILED`. */
export let failure: usize = 0

const token = new Text()
const scratch = new Text()
const addressBytes = memory.data(20)

/** Where the amount of the transfer stands. */
export function amount(): usize {
  return data.at
}

/**
 * Reads the argument `tokenAddress`.
 * @returns 0, or the address of the error to answer.
 */
export function takeToken(item: usize): usize {
  const error = takeText(item, 'tokenAddress', token)
  if (error !== 0) return error
  const isAddress =
    token.length === ADDRESS_LENGTH &&
    load<u16>(token.at) === 0x7830 &&
    bytesOf(token.at + 2, token.at + ADDRESS_LENGTH, addressBytes)
  if (!isAddress) return argumentError('the argument ', 'tokenAddress', ' is no address')
  for (let at = token.at + 2; at < token.at + ADDRESS_LENGTH; at++)
    if (load<u8>(at) < 0x60) store<u8>(at, load<u8>(at) | 0x20)
  return 0
}

/** Puts the address of the token as a JSON string. */
export function putToken(): void {
  putByte(0x22)
  putBytes(token.at, token.length)
  putText('"')
}

/** Reads the document that came last. */
export function readTransfer(): i32 {
  if (!openLog()) return fail(problem)
  const place = fields.find('address')
  if (place < 0) return fail(missingField('address'))
  const at = fields.value(place)
  if (!isString(at) || !sameTextInAnyCase(at, fields.valueEnd(place), token, scratch))
    return OTHER_LOG
  if (topicCount !== 3 || memory.compare(topics, TRANSFER, 32) !== 0) return OTHER_LOG
  if (!isAddressWord(topics + 32) || !isAddressWord(topics + 64)) return OTHER_LOG
  if (!readData()) return fail(problem)
  return data.length >= 32 ? TRANSFER_READ : OTHER_LOG
}

/** Whether nothing stands before the 20 bytes of an address. */
function isAddressWord(word: usize): bool {
  return load<u64>(word) === 0 && load<u32>(word, 8) === 0
}

function fail(error: usize): i32 {
  failure = error
  return FAILED
}
