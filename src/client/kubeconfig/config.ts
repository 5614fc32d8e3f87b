import { type Fields, isFields } from '../../api/object.ts'

/** One kubeconfig, or several merged. Lists of the file are maps by name. Each entry knows its file. */
export interface Config {
  currentContext: string
  clusters: Map<string, ClusterEntry>
  users: Map<string, UserEntry>
  contexts: Map<string, ContextEntry>
}

interface Entry {
  /** The file; paths are relative to its directory. */
  readonly file: string
}

export interface ClusterEntry extends Entry {
  server?: string
  'tls-server-name'?: string
  'insecure-skip-tls-verify'?: boolean
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'proxy-url'?: string
  extensions?: { name: string; extension: unknown }[]
}

export interface UserEntry extends Entry {
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  token?: string
  tokenFile?: string
  as?: string
  'as-uid'?: string
  'as-groups'?: string[]
  'as-user-extra'?: Record<string, string[]>
  username?: string
  password?: string
  'auth-provider'?: { name?: string }
  exec?: ExecEntry
}

export interface ExecEntry {
  apiVersion?: string
  command?: string
  args?: string[] | null
  env?: { name: string; value: string }[] | null
  installHint?: string
  provideClusterInfo?: boolean
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
}

export interface ContextEntry extends Entry {
  cluster?: string
  user?: string
  namespace?: string
}

/** Returns an empty config. */
export const emptyConfig = (): Config => ({
  currentContext: '',
  clusters: new Map(),
  users: new Map(),
  contexts: new Map(),
})

/** Returns true if the config has no content. */
export const isEmptyConfig = (config: Config): boolean =>
  config.clusters.size + config.users.size + config.contexts.size === 0 && config.currentContext === ''

/** Converts the YAML of a kubeconfig. Throws one sentence that names the file and the field. */
export function readConfig(value: unknown, file: string): Config {
  if (value === null || value === undefined) return emptyConfig()
  if (!isFields(value)) throw new Error(`kubeconfig ${file} is not a kubeconfig`)
  if (value.kind !== undefined && value.kind !== '' && value.kind !== 'Config')
    throw new Error(`kubeconfig ${file} is of kind ${JSON.stringify(value.kind)}, not Config`)
  return {
    currentContext: textField(value, 'current-context', file, '') ?? '',
    clusters: readEntries<ClusterEntry>(value, 'clusters', 'cluster', clusterTexts, file),
    users: readEntries<UserEntry>(value, 'users', 'user', userTexts, file),
    contexts: readEntries<ContextEntry>(value, 'contexts', 'context', contextTexts, file),
  }
}

const clusterTexts = ['server', 'tls-server-name', 'certificate-authority', 'certificate-authority-data', 'proxy-url']
const userTexts = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
  'as',
  'as-uid',
  'username',
  'password',
]
const contextTexts = ['cluster', 'user', 'namespace']

function textField(fields: Fields, name: string, file: string, where: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new Error(`kubeconfig ${file}: ${where}${name} must be a string`)
  return value
}

function readEntries<E extends Entry>(
  config: Fields,
  list: string,
  field: string,
  texts: readonly string[],
  file: string,
): Map<string, E> {
  const entries = config[list] ?? []
  if (!Array.isArray(entries)) throw new Error(`kubeconfig ${file}: ${list} must be a list`)
  const found = new Map<string, E>()
  for (const [i, entry] of (entries as unknown[]).entries()) {
    const at = `${list}[${i}].`
    const name = isFields(entry) ? textField(entry, 'name', file, at) : undefined
    if (name === undefined) throw new Error(`kubeconfig ${file}: ${at}name is missing`)
    if (found.has(name)) throw new Error(`kubeconfig ${file}: ${list} has ${JSON.stringify(name)} twice`)
    const fields = (entry as Fields)[field] ?? {}
    if (!isFields(fields)) throw new Error(`kubeconfig ${file}: ${at}${field} must be a mapping`)
    for (const text of texts) textField(fields, text, file, `${at}${field}.`)
    found.set(name, { ...withoutNulls(fields), file } as E)
  }
  return found
}

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
