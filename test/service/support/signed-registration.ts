/** The signature of `GET /registration`, verified as the registry chain verifies it and by other code than ours. */
import { createPublicKey, verify } from 'node:crypto'
import type { RegistrationReport } from '../../../src/service/health/registration-route.ts'

/** Whether the key of the report signed its message: ECDSA over SHA-256, in DER. */
export function isSigned({ registration }: RegistrationReport): boolean {
  const prefix = '3036301006072a8648ce3d020106052b8104000a032200'
  const { public_key: key, signed_pk_message: signature } = registration.defra_pk_registration
  const der = Buffer.from(`${prefix}${key.slice(2)}`, 'hex')
  return verify(
    'sha256',
    Buffer.from(registration.message.slice(2), 'hex'),
    createPublicKey({ key: der, format: 'der', type: 'spki' }),
    Buffer.from(signature.slice(2), 'hex'),
  )
}
