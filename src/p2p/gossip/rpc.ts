/**
 * Reads one frame of a gossip stream before gossipsub does (libp2p pubsub specification, "The RPC";
 * gossipsub, "Control messages"). gossipsub says nothing about who sent a frame that it could not
 * read, and remembers what peers send however long it is, for as long as they say.
 */
import type { Fault } from '../limits/fault.ts'
import { type MessageShape, type ProtobufField, protobufFields } from './protobuf-fields.ts'

/** A published message. */
interface RpcMessage {
  readonly topic: string
  readonly data: Uint8Array
  /** As it stands in its frame, which may hold nothing else. */
  readonly field: Uint8Array
}

/** What a frame holds, or why its sender is at fault. */
type Rpc =
  | { readonly fault: Fault }
  | {
      readonly fault: null
      readonly messages: readonly RpcMessage[]
      /** The frame without its messages; empty where there is nothing else. */
      readonly rest: Uint8Array
      /** One for the frame, each message and each message wanted, and one for every 32 IDs. */
      readonly cost: number
    }

/** Message IDs are SHA-256. */
const maxIdBytes = 32
const idsPerUnit = 32
/** Topics, subscriptions and other fields are short. */
const maxOtherBytes = 4096
/** Longest time in seconds for which a peer may want to be left alone; gossipsub says 60. */
const maxBackoffS = 600

const rpcFields = { subscription: 1, publish: 2, control: 3 } as const
const messageFields = { data: 2, topic: 4 } as const
const controls = { ihave: 1, iwant: 2, graft: 3, prune: 4, idontwant: 5 } as const

/** As gossipsub reads it, message by message; fields that it does not know it skips. */
const rpcShape: MessageShape = {
  [rpcFields.subscription]: { 1: 'uint32', 2: 'bytes' },
  [rpcFields.publish]: { [messageFields.data]: 'bytes', [messageFields.topic]: 'bytes' },
  [rpcFields.control]: {
    [controls.ihave]: { 1: 'bytes', 2: 'bytes' },
    [controls.iwant]: { 1: 'bytes' },
    [controls.graft]: { 1: 'bytes' },
    [controls.prune]: { 1: 'bytes', 2: { 1: 'bytes', 2: 'bytes' }, 3: 'uint64' },
    [controls.idontwant]: { 1: 'bytes' },
  },
}
/** Where the IDs are in the control messages that have some. */
const idFields: Readonly<Record<number, number>> = {
  [controls.ihave]: 2,
  [controls.iwant]: 1,
  [controls.idontwant]: 1,
}
const backoffField = 3

const malformed: Rpc = { fault: 'malformed message' }

/** Reads a frame; what it returns are views on it. */
export function readRpc(frame: Uint8Array): Rpc {
  const fields = protobufFields(frame, rpcShape)
  if (fields === null) return malformed
  const messages: RpcMessage[] = []
  const rest: Uint8Array[] = []
  let work = 1
  for (const field of fields) {
    if (field.number === rpcFields.publish) {
      const message = readMessage(field)
      if (message === null) return malformed
      messages.push(message)
      continue
    }
    const cost = field.number === rpcFields.control ? costOfControls(field) : 0
    const isLong = field.number === rpcFields.subscription && field.content.length > maxOtherBytes
    if (cost === null || isLong) return malformed
    work += cost
    rest.push(field.whole)
  }
  const whole = messages.length === 0 ? frame : Buffer.concat(rest)
  return { fault: null, messages, rest: whole, cost: work + messages.length }
}

/** Data and topic, once each: under StrictNoSign there is nothing else. */
function readMessage({ fields, whole }: ProtobufField): RpcMessage | null {
  if (fields.length !== 2) return null
  const data = fields.find(({ number }) => number === messageFields.data)
  const topic = fields.find(({ number }) => number === messageFields.topic)
  if (data === undefined || topic === undefined || topic.content.length > maxOtherBytes) return null
  return { topic: Buffer.from(topic.content).toString(), data: data.content, field: whole }
}

/** The work of control messages; null where they are malformed. */
function costOfControls(control: ProtobufField): number | null {
  let work = 0
  for (const { number, fields } of control.fields) {
    if (!fields.every((field) => isShort(number, field))) return null
    work += number === controls.iwant ? fields.length : fields.length / idsPerUnit
  }
  return Math.floor(work)
}

function isShort(control: number, { number, value, content }: ProtobufField): boolean {
  if (control === controls.prune && number === backoffField) return value <= maxBackoffS
  return content.length <= (number === idFields[control] ? maxIdBytes : maxOtherBytes)
}
