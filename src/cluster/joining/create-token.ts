import { X509Certificate, randomBytes } from 'node:crypto'
import path from 'node:path'
import { isAlreadyExists } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { systemClock } from '../../base/clock.ts'
import {
  Client,
  type ClusterAccess,
  HttpTransport,
  clusterrolebindings,
  loadAccess,
  rolebindings,
  roles,
  secrets,
} from '../../client/index.ts'
import { bundleField, bundleSecret } from './join-server.ts'
import { keyHash } from './join-node.ts'
import { keptBundle, newBundleKey, sealBundle } from '../keys/server-bundle.ts'

export interface CreateTokenOptions {
  /** Default: the kubeconfig in the data directory. */
  kubeconfig?: string
  /** Data directory of an API server on this machine; the configuration shared by servers is read from it. */
  dataDir: string
  /** 0 means that the token never expires. */
  ttlMs: number
  description?: string
  release: string
  /** The command that the token is for. */
  joins: 'node' | 'up'
}

export interface CreatedToken {
  token: string
  /** The command that joins with it. */
  joinCommand: string
  /** Warnings for the user. */
  warnings: string[]
}

const namespace = 'kube-system'
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const drawn = (count: number): string =>
  Array.from(randomBytes(count * 2), (byte) => letters[byte])
    .filter((letter) => letter !== undefined)
    .join('')
    .slice(0, count)

/** Returns random letters, uniformly distributed. */
function randomText(count: number): string {
  let text = ''
  while (text.length < count) text += drawn(count)
  return text.slice(0, count)
}

/**
 * Creates a bootstrap token. A token for a server comes with a Secret that only its owner may read: the etcd endpoints
 * and credentials, sealed with a key that no object contains. Both expire together.
 */
export async function createToken(options: CreateTokenOptions): Promise<CreatedToken> {
  const { kubeconfig, dataDir, release } = options
  const access = await loadAccess({ file: kubeconfig ?? path.join(dataDir, 'kubeconfig') })
  const client = new Client(
    new HttpTransport(access, { userAgent: `coxswain-token/${release} (${process.platform}/${process.arch})` }),
  )
  try {
    return await create(options, access, client)
  } finally {
    await client.close()
  }
}

async function create(
  { ttlMs, description, joins, dataDir }: CreateTokenOptions,
  access: ClusterAccess,
  client: Client,
): Promise<CreatedToken> {
  const bundle = joins === 'up' ? keptBundle(dataDir) : undefined
  if (joins === 'up' && !bundle)
    throw new Error(
      `${dataDir} is not the data directory of a server with --store etcd: only such servers can be joined`,
    )
  const [id, secret] = [randomText(6), randomText(16)]
  const made = await client.create(secrets, {
    metadata: { name: `bootstrap-token-${id}`, namespace },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      ...(ttlMs > 0 ? { expiration: new Date(systemClock.now() + ttlMs).toISOString() } : {}),
      ...(description === undefined ? {} : { description }),
    },
  })
  await letNodesJoin(client)
  const key = bundle && newBundleKey()
  if (bundle && key) await shareBundle(client, id, made, sealBundle(bundle, key))
  const servers = [access.server, ...(access.otherServers?.() ?? [])].map(({ origin }) => origin)
  const parts = [
    `coxswain ${joins} --join`,
    ...(joins === 'up' ? servers.slice(0, 1) : servers).map((server) => `--server ${server}`),
    `--token ${id}.${secret}`,
    `--ca-cert-hash ${authorityHash(access)}`,
    ...(key ? [`--certificate-key ${key}`] : []),
  ]
  const isLocal = bundle?.etcd.servers.some((server) =>
    ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(server).hostname),
  )
  const warnings = isLocal ? ['etcd listens on this machine only: servers on other machines cannot use it'] : []
  return { token: `${id}.${secret}`, joinCommand: parts.join(' '), warnings }
}

function authorityHash(access: ClusterAccess): string {
  const authority = access.authority()
  if (!authority)
    throw new Error('the kubeconfig has no certificate authority, by which joining machines verify the server')
  return keyHash(new X509Certificate(authority))
}

/** Allows owners of bootstrap tokens to request node certificates. */
async function letNodesJoin(client: Client): Promise<void> {
  await ensure(
    client.create(clusterrolebindings, {
      metadata: { name: 'coxswain:node-bootstrapper' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:bootstrappers' }],
    }),
  )
}

/** Stores the bundle in a Secret that the owner of the token may read and that expires with the token. */
async function shareBundle(
  client: Client,
  id: string,
  { metadata: { name: tokenName, uid } }: KubeObject,
  sealed: Buffer,
): Promise<void> {
  const name = bundleSecret(id)
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Secret', name: tokenName!, uid: uid! }]
  const metadata = { name, namespace, ownerReferences }
  await client.create(secrets, { metadata, type: 'Opaque', data: { [bundleField]: sealed.toString('base64') } })
  await client.create(roles, {
    metadata,
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: ['get'] }],
  })
  await client.create(rolebindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `system:bootstrap:${id}` }],
  })
}

const ensure = (made: Promise<unknown>): Promise<unknown> =>
  made.catch((e: unknown) => {
    if (!isAlreadyExists(e)) throw e
  })
