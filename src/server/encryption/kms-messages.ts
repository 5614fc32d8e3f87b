import { type MessageOf, bytes, int, map, message, string } from '../../grpc/index.ts'

/** The use of the data key: directly, or as the seed of derived keys. */
export const dekSource = { aesGcmKey: 0, hkdfSeed: 1 } as const

const Nothing = message({})
const StatusResponse = message({ version: string(1), healthz: string(2), keyId: string(3) })
const EncryptRequest = message({ plaintext: bytes(1), uid: string(2) })
const EncryptResponse = message({ ciphertext: bytes(1), keyId: string(2), annotations: map(3, bytes(2)) })
const DecryptRequest = message({
  ciphertext: bytes(1),
  uid: string(2),
  keyId: string(3),
  annotations: map(4, bytes(2)),
})
const DecryptResponse = message({ plaintext: bytes(1) })

const service = '/v2.KeyManagementService'
/** The methods of a KMS v2 plug-in. */
export const kmsMethods = {
  status: { path: `${service}/Status`, request: Nothing, response: StatusResponse },
  encrypt: { path: `${service}/Encrypt`, request: EncryptRequest, response: EncryptResponse },
  decrypt: { path: `${service}/Decrypt`, request: DecryptRequest, response: DecryptResponse },
} as const

/** A data encryption key, encrypted by a KMS plug-in. */
export type WrappedKey = MessageOf<typeof EncryptResponse>

/** The stored form of an object: EncryptedObject of k8s.io/apiserver. */
export const EncryptedObject = message({
  data: bytes(1),
  keyId: string(2),
  ciphertext: bytes(3),
  annotations: map(4, bytes(2)),
  source: int(5),
})

/** Throws if the bytes are not an EncryptedObject. */
export function readEncryptedObject(stored: Buffer): MessageOf<typeof EncryptedObject> {
  const object = EncryptedObject.decode(stored)
  if (object.source !== dekSource.aesGcmKey && object.source !== dekSource.hkdfSeed)
    throw new Error(`unknown encryptedDEKSourceType: ${object.source}`)
  if (object.data.length === 0) throw new Error('encrypted data is empty')
  if (object.ciphertext.length === 0)
    throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty')
  return object
}
