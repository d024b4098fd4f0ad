import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeOptions, operatorNodeOptions } from '../../src/service/contract.ts'
import { imageEnvironment } from '../support/image-environment.ts'

test('the images start Node with the options of the contract', () => {
  assert.equal(imageEnvironment('service')['NODE_OPTIONS'], nodeOptions.join(' '))
  assert.equal(imageEnvironment('operator')['NODE_OPTIONS'], operatorNodeOptions.join(' '))
})
