import type { ConfigMap, Container, EnvVarSource, Pod, Secret, Service } from '../../api/generated/types.ts'
import { expand } from './expand.ts'
import { type Place, fieldValue, resourceValue } from './field-values.ts'
import { linkedServices, serviceVariables } from './service-links.ts'

/** Reads the objects that variables are taken from. Undefined if an object does not exist. */
export interface EnvSources {
  configMap(name: string): Promise<ConfigMap | undefined>
  secret(name: string): Promise<Secret | undefined>
  services: readonly Service[]
}

/** A container's configuration refers to a missing object or key. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

const decoded = (data: Readonly<Record<string, string>> | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  )

/**
 * The environment of a container. Later variables win: those of Services, then envFrom, then env. Rejects with a
 * ConfigError.
 */
export async function environmentOf(
  pod: Pod,
  container: Container,
  sources: EnvSources,
  place: Place,
): Promise<Map<string, string>> {
  const namespace = pod.metadata.namespace ?? ''
  const links = serviceVariables(linkedServices(sources.services, namespace, pod.spec.enableServiceLinks !== false))
  const variables = new Map<string, string>()
  for (const { configMapRef, secretRef, prefix = '' } of container.envFrom ?? []) {
    let values: Readonly<Record<string, string>> | undefined
    if (configMapRef) {
      const found = await sources.configMap(configMapRef.name ?? '')
      if (!found && !configMapRef.optional) throw new ConfigError(`configmap "${configMapRef.name}" not found`)
      values = found?.data
    } else if (secretRef) {
      const found = await sources.secret(secretRef.name ?? '')
      if (!found && !secretRef.optional) throw new ConfigError(`secret "${secretRef.name}" not found`)
      values = decoded(found?.data)
    }
    for (const [key, value] of Object.entries(values ?? {})) variables.set(`${prefix}${key}`, value)
  }
  const known = new Map([...links, ...variables])
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom ? await valueOf(pod, container, valueFrom, sources, place) : expand(value ?? '', known)
    if (found === undefined) continue
    variables.set(name, found)
    known.set(name, found)
  }
  for (const [name, value] of links) if (!variables.has(name)) variables.set(name, value)
  return variables
}

async function valueOf(
  pod: Pod,
  container: Container,
  from: EnvVarSource,
  sources: EnvSources,
  place: Place,
): Promise<string | undefined> {
  if (from.fieldRef) return fieldValue(pod, from.fieldRef.fieldPath, place)
  if (from.resourceFieldRef) return resourceValue(from.resourceFieldRef, container, place)
  const ref = from.configMapKeyRef ?? from.secretKeyRef
  if (!ref) return undefined
  const kind = from.configMapKeyRef ? 'configmap' : 'secret'
  const found = from.configMapKeyRef ? await sources.configMap(ref.name ?? '') : await sources.secret(ref.name ?? '')
  if (!found) {
    if (ref.optional) return undefined
    throw new ConfigError(`${kind} "${ref.name}" not found`)
  }
  const value = found.data?.[ref.key]
  if (value !== undefined) return from.configMapKeyRef ? value : Buffer.from(value, 'base64').toString('utf8')
  if (ref.optional) return undefined
  const where = `${pod.metadata.namespace}/${ref.name}`
  throw new ConfigError(
    from.configMapKeyRef
      ? `couldn't find key ${ref.key} in ConfigMap ${where}`
      : `couldn't find key ${ref.key} in Secret ${where}`,
  )
}
