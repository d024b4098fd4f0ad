/**
 * A preload that falsifies what a real Host stores, signs and sends of Views: at every even height all amounts are the
 * same false one. Everything else of it is as it is.
 */
import { alterSource } from './altered-source.ts'
import { falsified } from './falsified-rows.ts'

alterSource({
  file: new URL('../../../../src/host/row-votes/noticing.ts', import.meta.url),
  found: 'writer.putViewRows(slot, bytes)',
  put: 'writer.putViewRows(slot, altered(bytes))',
  altered: falsified,
})
