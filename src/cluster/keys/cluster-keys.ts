import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { makeDirectory, replaceFile } from '../../base/durable-files.ts'
import type { KeyPair } from '../../server/index.ts'
import type { Store } from '../../store/index.ts'
import { loadAuthority, loadTokenKey } from './pki.ts'

/** The keys shared by all API servers of a cluster. */
export interface ClusterKeys {
  /** Signs certificates. */
  authority: KeyPair
  /** Signs the certificate that servers present when they proxy requests to other API servers. */
  proxyAuthority: KeyPair
  /** Signs the tokens of service accounts. */
  tokenKey: string
}

/** Key of the shared keys in the store. No kind uses this prefix, so the API does not expose it. */
const sharedKey = '/registry/coxswain.io/cluster-keys'

/**
 * Loads the cluster's keys from the data directory. If several servers share the store, the keys of the first one are
 * shared through the store.
 */
export async function loadClusterKeys(store: Store, dataDir: string, now: number): Promise<ClusterKeys> {
  if (!store.currentRevision) {
    // A backup of a shared store was restored into this store.
    const restored = existsSync(authorityKeyFile(dataDir)) ? undefined : await keysInStore(store)
    if (restored) writeKeys(restored, dataDir)
    return ownKeys(dataDir, now)
  }
  const shared = await keysInStore(store)
  if (shared) return adopt(shared, dataDir)
  const isNew = !existsSync(authorityKeyFile(dataDir))
  const own = ownKeys(dataDir, now)
  const result = await store.write({ key: sharedKey, expected: 0, value: Buffer.from(JSON.stringify(own)) })
  if (result.ok) return own
  // Another server stored its keys first. The keys created here have not signed anything yet.
  const keys = readKeys(result.current!.value)
  if (isNew) writeKeys(keys, dataDir)
  return adopt(keys, dataDir)
}

const ownKeys = (dataDir: string, now: number): ClusterKeys => ({
  authority: loadAuthority(dataDir, now),
  proxyAuthority: loadAuthority(dataDir, now, 'front-proxy-ca'),
  tokenKey: loadTokenKey(dataDir),
})

/** Reads the keys of a data directory; undefined if no server has created any. */
export const readKeyFiles = (dataDir: string, now: number): ClusterKeys | undefined =>
  existsSync(authorityKeyFile(dataDir)) ? ownKeys(dataDir, now) : undefined

/** Reads the keys from a shared store; undefined if there are none, or they are encrypted. */
async function keysInStore(store: Store): Promise<ClusterKeys | undefined> {
  const shared = await store.get(sharedKey)
  return shared && !isEncrypted(shared.value) ? readKeys(shared.value) : undefined
}

/**
 * The keys for a backup of a shared store: those in the store, or those in the data directory before a server has
 * stored any. Throws if they are those of two clusters.
 */
export async function keysForBackup(store: Store, dataDir: string, now: number): Promise<ClusterKeys | undefined> {
  const shared = await keysInStore(store)
  if (!shared) return readKeyFiles(dataDir, now)
  if (existsSync(authorityKeyFile(dataDir))) requireSame(shared, dataDir)
  return shared
}

/** Stores the keys of a restored cluster for all servers, unless the backup had them as an object. */
export async function shareKeys(store: Store, keys: ClusterKeys): Promise<void> {
  if (await store.get(sharedKey)) return
  const result = await store.write({ key: sharedKey, expected: 0, value: Buffer.from(JSON.stringify(keys)) })
  if (!result.ok) throw new Error(`${sharedKey} is there already: another process writes to the store`)
}

const isEncrypted = (value: Buffer): boolean => value.toString('latin1', 0, 8) === 'k8s:enc:'

function readKeys(value: Buffer): ClusterKeys {
  return JSON.parse(value.toString()) as ClusterKeys
}

/** Uses the shared keys. Different keys in the data directory belong to another cluster and are an error. */
function adopt(keys: ClusterKeys, dataDir: string): ClusterKeys {
  if (!existsSync(authorityKeyFile(dataDir))) writeKeys(keys, dataDir)
  requireSame(keys, dataDir)
  return keys
}

function requireSame(keys: ClusterKeys, dataDir: string): void {
  const isSame = filesOf(keys, dataDir).every(([file, text]) => existsSync(file) && readFileSync(file, 'utf8') === text)
  if (isSame) return
  throw new Error(`--data-dir: the keys in ${path.join(dataDir, 'pki')} belong to another cluster than the store`)
}

/** Writes the keys into a data directory. */
export function writeKeys(keys: ClusterKeys, dataDir: string): void {
  makeDirectory(path.join(dataDir, 'pki'))
  for (const [file, text] of filesOf(keys, dataDir)) replaceFile(file, text)
}

/** The file that is written last: if it exists, all others do. */
const authorityKeyFile = (dataDir: string): string => path.join(dataDir, 'pki', 'ca.key')

const filesOf = (
  { authority, proxyAuthority, tokenKey }: ClusterKeys,
  dataDir: string,
): [file: string, text: string][] => [
  [path.join(dataDir, 'pki', 'sa.key'), tokenKey],
  [path.join(dataDir, 'pki', 'front-proxy-ca.crt'), proxyAuthority.certificate],
  [path.join(dataDir, 'pki', 'front-proxy-ca.key'), proxyAuthority.key],
  [path.join(dataDir, 'pki', 'ca.crt'), authority.certificate],
  [authorityKeyFile(dataDir), authority.key],
]
