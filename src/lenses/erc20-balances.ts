/**
 * What accounts gained and lost of one ERC-20 token over all logs of a stream, a row for each account at its end.
 * docs/lenses.md has arguments and answers.
 */
import {
  accountAt,
  accountCount,
  countTransfer,
  receive,
  send,
  sumOf,
  transfersOf,
} from './erc20/accounts'
import {
  amount,
  FAILED,
  failure,
  putToken,
  readTransfer,
  recipient,
  sender,
  TRANSFER_READ,
  takeToken,
} from './erc20/transfer'
import { isObject, notAnObject, notSet } from './sdk/arguments'
import { putSignedSum } from './sdk/decimal'
import { putHex } from './sdk/hex'
import {
  beginDocument,
  endDocument,
  endOfStream,
  errorItem,
  nilItem,
  putCount,
  putText,
} from './sdk/output'
import { isEnd, passOn, pull } from './sdk/stream'

export { alloc } from './sdk/input'

let isSet = false
let isOver = false
let answered: u32 = 0

export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  const error = takeToken(item)
  if (error !== 0) return error
  isSet = true
  return nilItem()
}

/** Behind the end of the stream nothing is taken any more: by that a Host knows how to feed it. */
export function transform(): usize {
  if (!isSet) return notSet()
  while (!isOver) {
    if (pull()) {
      const error = add()
      if (error !== 0) return error
    } else if (isEnd()) isOver = true
    else return passOn()
  }
  return answered < accountCount ? row(accountAt(answered++)) : endOfStream()
}

/** Adds the document that came last; the address of an error, or 0. */
function add(): usize {
  const found = readTransfer()
  if (found === FAILED) return failure
  if (found !== TRANSFER_READ) return 0
  const isOwn = memory.compare(sender, recipient, 20) === 0
  if (!isZero(sender)) {
    const account = countTransfer(sender)
    if (account === 0) return tooMany()
    if (!isOwn) send(account, amount())
  }
  if (isOwn || isZero(recipient)) return 0
  const account = countTransfer(recipient)
  if (account === 0) return tooMany()
  receive(account, amount())
  return 0
}

/** The zero address stands for creating and destroying tokens. */
function isZero(address: usize): bool {
  return load<u64>(address) === 0 && load<u64>(address, 8) === 0 && load<u32>(address, 16) === 0
}

function row(account: usize): usize {
  beginDocument()
  putText('{"tokenAddress":')
  putToken()
  putText(',"account":')
  putHex(account, 20)
  putText(',"balance":"')
  putSignedSum(sumOf(account))
  putText('","txCount":')
  putCount(transfersOf(account) as u32)
  putText('}')
  return endDocument()
}

function tooMany(): usize {
  return errorItem(
    'there are more than 200000 accounts: let the query of the View select fewer logs',
  )
}
