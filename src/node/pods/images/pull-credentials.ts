import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import type { Pod, Secret } from '../../../api/generated/types.ts'
import { secrets } from '../../../client/index.ts'
import type { PullCredential } from '../../images/image-access.ts'
import type { RegistryCredential } from '../../runtime/runtime.ts'
import type { NodeContext } from '../node-context.ts'

interface DockerConfig {
  auths?: Record<string, { username?: string; password?: string; auth?: string }>
}

/** The directories in which kubelet finds the node's own credentials. */
const nodeFiles = ['/var/lib/kubelet/config.json', path.join(homedir(), '.docker/config.json')]

/**
 * The credentials for an image: those of the pod's pull secrets, then those of the node. Missing and unreadable secrets
 * are skipped, because the image may be public.
 */
export async function pullCredentials(
  context: NodeContext,
  pod: Pod,
  image: string,
  signal: AbortSignal,
): Promise<PullCredential[]> {
  const found: RegistryCredential[] = []
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    const secret = name
      ? await context.objects.get<Secret>(secrets, pod.metadata.namespace ?? '', name, signal)
      : undefined
    if (secret) found.push(...readSecret(secret))
  }
  const ofNode = context.runtime.hasContainers ? await nodeCredentials() : []
  return [
    ...credentialsFor(image, found).map((login) => ({ login, isOfNode: false })),
    ...credentialsFor(image, ofNode).map((login) => ({ login, isOfNode: true })),
  ]
}

async function nodeCredentials(): Promise<RegistryCredential[]> {
  for (const file of nodeFiles) {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text !== undefined) return readConfig(text)
  }
  return []
}

function readSecret({ data }: Secret): RegistryCredential[] {
  const text = data?.['.dockerconfigjson'] ?? data?.['.dockercfg']
  return text === undefined ? [] : readConfig(Buffer.from(text, 'base64').toString('utf8'))
}

function readConfig(text: string): RegistryCredential[] {
  try {
    const config = JSON.parse(text) as DockerConfig
    const auths = config.auths ?? (config as NonNullable<DockerConfig['auths']>)
    return Object.entries(auths).map(([server, { username, password, auth }]) => {
      const [name = '', ...rest] = Buffer.from(auth ?? '', 'base64')
        .toString('utf8')
        .split(':')
      return { server, username: username ?? name, password: password ?? rest.join(':') }
    })
  } catch {
    return [] // not a docker config: Kubernetes ignores it too
  }
}

const dockerHub = 'index.docker.io'

/** The registry and path of an image: `nginx` is `index.docker.io/library/nginx`. */
function placeOf(image: string): { host: string; below: string } {
  const [first = '', ...rest] = image
    .replace(/@.*$/, '')
    .replace(/:[^/]*$/, '')
    .split('/')
  const hasHost = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost')
  if (!hasHost) return { host: dockerHub, below: rest.length === 0 ? `library/${first}` : [first, ...rest].join('/') }
  return { host: first === 'docker.io' ? dockerHub : first, below: rest.join('/') }
}

/**
 * The credentials that match an image, the most specific first. Credentials of one registry are never sent to another.
 */
export function credentialsFor(image: string, all: readonly RegistryCredential[]): RegistryCredential[] {
  const { host, below } = placeOf(image)
  const matching = all.filter(({ server }) => {
    const [ofHost = '', ...ofPath] = server.replace(/^https?:\/\//, '').split('/')
    const prefix = ofPath
      .join('/')
      .replace(/^(v1|v2)?\/?$/, '')
      .replace(/\/$/, '')
    return (
      matchesHost(host, ofHost === 'docker.io' ? dockerHub : ofHost) &&
      (prefix === '' || below === prefix || below.startsWith(`${prefix}/`))
    )
  })
  return matching.sort((a, b) => b.server.length - a.server.length)
}

/** Matches a host with a pattern. `*` in `*.example.com` matches one label; ports must be equal. */
function matchesHost(host: string, pattern: string): boolean {
  const [hostName = '', hostPort = ''] = host.split(':')
  const [patternName = '', patternPort = ''] = pattern.split(':')
  const [parts, patterns] = [hostName.split('.'), patternName.split('.')]
  if (hostPort !== patternPort || parts.length !== patterns.length) return false
  return patterns.every((part, i) =>
    new RegExp(
      `^${part
        .split('*')
        .map((text) => text.replaceAll(/[^\w-]/g, '\\$&'))
        .join('.*')}$`,
    ).test(parts[i]!),
  )
}
