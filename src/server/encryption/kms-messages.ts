import { wireFields } from '../../api/protobuf/index.ts'

/** Annotations that a KMS plug-in wants to see again when it decrypts. */
export type Annotations = ReadonlyMap<string, Buffer>

export interface KmsStatus {
  version: string
  healthz: string
  keyId: string
}

/** A data encryption key as a KMS plug-in has encrypted it. */
export interface WrappedKey {
  ciphertext: Buffer
  keyId: string
  annotations: Annotations
}

/** How the data is encrypted: by the key itself, or by keys that are derived from it. */
export const dekSource = { aesGcmKey: 0, hkdfSeed: 1 } as const

/** An object in its stored form, of k8s.io/apiserver's EncryptedObject. */
export interface EncryptedObject extends WrappedKey {
  data: Buffer
  source: number
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 128)
  }
  return Buffer.from([...bytes, rest])
}

/** A field of bytes; nothing where they are empty, as proto3 has it. */
function field(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return bytes.length === 0 ? bytes : Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

const mapField = (number: number, map: Annotations): Buffer[] =>
  [...map].map(([key, value]) => field(number, Buffer.concat([field(1, key), field(2, value)])))

/** The fields of a message that are bytes, and its numbers. */
function read(message: Buffer) {
  const bytes = new Map<number, Buffer[]>()
  const numbers = new Map<number, number>()
  for (const found of wireFields(message)) {
    if (found.type === 'bytes') bytes.set(found.number, [...(bytes.get(found.number) ?? []), found.bytes])
    else if (found.type === 'varint') numbers.set(found.number, Number(found.value))
  }
  const last = (number: number): Buffer => bytes.get(number)?.at(-1) ?? Buffer.alloc(0)
  const map = (number: number): Annotations =>
    new Map(
      (bytes.get(number) ?? []).map((entry) => {
        const parts = read(entry)
        return [parts.last(1).toString(), parts.last(2)]
      }),
    )
  return { last, map, number: (number: number) => numbers.get(number) ?? 0 }
}

export const encryptRequest = (plaintext: Buffer, uid: string): Buffer =>
  Buffer.concat([field(1, plaintext), field(2, uid)])

export function readEncryptResponse(message: Buffer): WrappedKey {
  const { last, map } = read(message)
  return { ciphertext: last(1), keyId: last(2).toString(), annotations: map(3) }
}

export const decryptRequest = ({ ciphertext, keyId, annotations }: WrappedKey, uid: string): Buffer =>
  Buffer.concat([field(1, ciphertext), field(2, uid), field(3, keyId), ...mapField(4, annotations)])

export const readDecryptResponse = (message: Buffer): Buffer => read(message).last(1)

export function readStatusResponse(message: Buffer): KmsStatus {
  const { last } = read(message)
  return { version: last(1).toString(), healthz: last(2).toString(), keyId: last(3).toString() }
}

export function encryptedObjectBytes({ data, keyId, ciphertext, annotations, source }: EncryptedObject): Buffer {
  const kind = source === 0 ? [] : [varint(5 << 3), varint(source)]
  return Buffer.concat([field(1, data), field(2, keyId), field(3, ciphertext), ...mapField(4, annotations), ...kind])
}

/** Throws for what is none. */
export function readEncryptedObject(message: Buffer): EncryptedObject {
  const { last, map, number } = read(message)
  const object = {
    data: last(1),
    keyId: last(2).toString(),
    ciphertext: last(3),
    annotations: map(4),
    source: number(5),
  }
  if (object.source !== dekSource.aesGcmKey && object.source !== dekSource.hkdfSeed)
    throw new Error(`unknown encryptedDEKSourceType: ${object.source}`)
  if (object.data.length === 0) throw new Error('encrypted data is empty')
  if (object.ciphertext.length === 0)
    throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty')
  return object
}
