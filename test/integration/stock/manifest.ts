import type { Json } from '../../../src/api/object.ts'
import type { StockScene } from './stock-scene.ts'

/** Kinds whose plural is not made by an s. */
const plurals: Readonly<Record<string, string>> = { NetworkPolicy: 'networkpolicies' }

/** Creates an object of a manifest. A field that the server does not know is an error. */
export async function applyManifest(s: StockScene, object: any): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const plural = plurals[kind] ?? `${kind.toLowerCase()}s`
  const path = `${root}${metadata.namespace ? `/namespaces/${metadata.namespace}` : ''}/${plural}`
  await s.client.transport.send({ method: 'POST', path, body: object as Json, query: { fieldValidation: 'Strict' } })
}
