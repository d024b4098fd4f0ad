/** Transfers of one ERC-20 token, a row each; all other logs are skipped. docs/lenses.md has arguments and answers. */
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
import { putUnsigned } from './sdk/decimal'
import { putHex } from './sdk/hex'
import { fields, openTransaction, transaction } from './sdk/log'
import { beginDocument, endDocument, nilItem, putText } from './sdk/output'
import { passOn, pull } from './sdk/stream'

export { alloc } from './sdk/input'

let isSet = false

export function set_param(item: usize): usize {
  isSet = false
  if (!isObject(item)) return notAnObject()
  const error = takeToken(item)
  if (error !== 0) return error
  isSet = true
  return nilItem()
}

export function transform(): usize {
  if (!isSet) return notSet()
  while (pull()) {
    const found = readTransfer()
    if (found === FAILED) return failure
    if (found === TRANSFER_READ) return row()
  }
  return passOn()
}

function row(): usize {
  openTransaction()
  const hash = transaction.find('hash')
  beginDocument()
  putText('{"tokenAddress":')
  putToken()
  putText(',"hash":')
  if (hash >= 0) transaction.putValue(hash)
  else putField('transactionHash')
  putText(',"from":')
  putHex(sender, 20)
  putText(',"to":')
  putHex(recipient, 20)
  putText(',"amount":"')
  putUnsigned(amount())
  putText('","blockNumber":')
  putField('blockNumber')
  putText('}')
  return endDocument()
}

function putField(name: string): void {
  const place = fields.find(name)
  if (place >= 0) fields.putValue(place)
  else putText('null')
}
