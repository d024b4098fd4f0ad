/** What a NetworkPolicy should let through, as tables of which each line is a test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '../../../operator/resources/objects/network-policy.ts'
import { type Connection, type Endpoint, lets } from './network-policy.ts'

export const outside: Endpoint = { kind: 'outside' }
export const machine: Endpoint = { kind: 'machine' }

/** A pod with these labels. */
export function pod(namespace: string, labels: Readonly<Record<string, string>> = {}): Endpoint {
  return { kind: 'pod', namespace, labels }
}

/** A connection of the pods of a policy, and whether it comes about. */
export interface Flow extends Connection {
  readonly name: string
  readonly passes: boolean
}

/** Makes a test of each. */
export function checkFlows(title: string, policy: NetworkPolicy, flows: readonly Flow[]): void {
  for (const { name, passes, ...connection } of flows) {
    test(`${title}: ${name} ${passes ? 'passes' : 'does not pass'}`, () => {
      assert.equal(lets(policy, connection), passes)
    })
  }
}
