/** Whether a Host could serve a View beside its collections: a schema that cannot be built would end the Host. */
import { messageOf, ServiceError } from '../../errors.ts'
import type { RowType } from '../../views/rows/row-type.ts'
import { createCatalog, hostCollections } from '../catalog/catalog.ts'
import type { Catalog } from '../catalog/entity.ts'
import { viewAttestation } from '../catalog/view-attestation.ts'
import { viewEntity } from '../catalog/view-entity.ts'
import { createSchemaBuilder } from './schema.ts'

type SchemaPart = Pick<RowType, 'name' | 'description' | 'fields'>

/**
 * The check for a chain, as in `Ethereum__Mainnet`.
 * @throws ServiceError `VIEWS_SDL_INVALID`, with what GraphQL says of the schema.
 */
export function createViewSchemaCheck(network: string): (rowType: SchemaPart) => void {
  const fixed = createCatalog(network, hostCollections)
  const build = createSchemaBuilder()
  return (rowType) => {
    try {
      build(withView(fixed, rowType))
    } catch (error) {
      const said = messageOf(error)
      throw new ServiceError(
        'VIEWS_SDL_INVALID',
        `the SDL: no schema can be built with it: ${said}`,
        {
          cause: error,
          remedy: 'Choose other names for the type and its fields.',
        },
      )
    }
  }
}

function withView(fixed: Catalog, rowType: SchemaPart): Catalog {
  const view = { id: '0x', name: rowType.name, slot: 0, rowType, query: null }
  const entity = viewEntity(view, null)
  const votes = entity.view === undefined ? [] : [viewAttestation(entity.view)]
  return new Map([...fixed, ...[entity, ...votes].map((each) => [each.name, each] as const)])
}
