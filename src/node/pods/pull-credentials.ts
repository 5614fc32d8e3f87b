import type { Pod, Secret } from '../../api/generated/types.ts'
import { secrets } from '../../client/index.ts'
import type { ImagePull } from '../runtime/runtime.ts'
import type { NodeContext } from './node-context.ts'

interface DockerConfig {
  auths?: Record<string, { username?: string; password?: string; auth?: string }>
}

/** What a pod's pull secrets hold. One that is missing or makes no sense is passed over: the image may be public. */
export async function pullCredentials(context: NodeContext, pod: Pod, signal: AbortSignal): Promise<ImagePull['credentials']> {
  const found: ImagePull['credentials'][number][] = []
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    const secret = name ? await context.objects.get<Secret>(secrets, pod.metadata.namespace ?? '', name, signal) : undefined
    if (secret) found.push(...readSecret(secret))
  }
  return found
}

function readSecret({ data }: Secret): ImagePull['credentials'][number][] {
  const text = data?.['.dockerconfigjson'] ?? data?.['.dockercfg']
  if (text === undefined) return []
  try {
    const config = JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as DockerConfig
    const auths = config.auths ?? (config as NonNullable<DockerConfig['auths']>)
    return Object.entries(auths).map(([server, { username, password, auth }]) => {
      const [name = '', ...rest] = Buffer.from(auth ?? '', 'base64').toString('utf8').split(':')
      return { server, username: username ?? name, password: password ?? rest.join(':') }
    })
  } catch {
    return [] // not a docker config: Kubernetes passes over it, too
  }
}
