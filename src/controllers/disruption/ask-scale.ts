import { isNotFound } from '../../api/errors.ts'
import type { OwnerReference } from '../../api/object.ts'
import type { Scale } from './expected.ts'

interface Discovered {
  resources: readonly { name: string; kind: string }[]
}

interface ScaleObject {
  metadata: { uid?: string }
  spec?: { replicas?: number }
}

/** Asks the server how many pods something wants that only it knows, by its scale. Undefined: it is not there. */
export async function askScale(ask: <T>(path: string) => Promise<T>, namespace: string, ref: OwnerReference): Promise<Scale | undefined> {
  const { apiVersion, kind, name, uid } = ref
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const resources = (await orUndefined(ask<Discovered>(root)))?.resources ?? []
  const resource = resources.find((r) => r.kind === kind && !r.name.includes('/'))?.name
  if (!resource) return { failure: `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}` }
  if (!resources.some((r) => r.name === `${resource}/scale`)) {
    const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
    return { failure: `${resource}${group} does not implement the scale subresource` }
  }
  const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}/scale`
  const scale = await orUndefined(ask<ScaleObject>(path))
  return scale?.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined
}

async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (e) {
    if (isNotFound(e)) return undefined
    throw e
  }
}
