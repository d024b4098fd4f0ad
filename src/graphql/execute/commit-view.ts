/**
 * `_version`: a document's CID, the bytes it hashes and the signature over its block.
 */
import { documentCid } from '../../primitives/cid.ts'
import { cidText } from '../../primitives/cid-text.ts'
import type { Section } from '../../primitives/collections.ts'
import { canonicalBytes } from '../../primitives/values.ts'
import { rowDocID } from '../catalog/catalog.ts'
import type { NamedField } from '../plan/plan.ts'
import { storedSealsOf } from '../rows/block-seals.ts'
import type { Row } from '../rows/row.ts'
import { bytesOf } from '../rows/stored-value.ts'
import { type Json, pickFields } from './fixed-object.ts'
import { signatureView } from './proof-view.ts'

/** The form of the bytes that CIDs hash; the same number stands first in them. */
const documentForm = 'viewmesh/document/1'

/** The one version of a document. */
export function versionOf(
  row: Row,
  section: Section,
  fields: readonly NamedField[],
): readonly Json[] {
  const { network } = row.block.session
  const docID = rowDocID(row, section)
  const bytes = bytesOf(row, section)
  const version = {
    __typename: 'Commit',
    cid: () => cidText(documentCid(network, section, docID, bytes)),
    docID,
    height: 1,
    fieldName: '_C',
    collectionVersionId: documentForm,
    schemaVersionId: documentForm,
    delta: () => Buffer.from(canonicalBytes(network, section, docID, bytes)).toString('base64'),
    links: [],
    heads: [],
    signature: () => signatureOf(row),
  }
  return [pickFields(fields, version)]
}

/** The first signature over exactly the stored documents; null before the block is sealed. */
function signatureOf(row: Row): Json {
  const [seal] = storedSealsOf(row.block)
  return seal === undefined ? null : signatureView(seal)
}
