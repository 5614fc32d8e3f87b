import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { parseYaml } from '../../api/json/index.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { ClusterAccess } from '../transport/access.ts'
import { type Choice, clusterAccess } from './cluster-access.ts'
import { type Config, isEmptyConfig, readConfig } from './config.ts'
import { inClusterAccess, isInCluster } from './in-cluster.ts'
import { mergeConfigs } from './merge.ts'
import { type RunCommand, processRunner } from './run-command.ts'

export interface LoadOptions extends Choice {
  /** The only file to read, as in `--kubeconfig`. */
  file?: string | undefined
  clock?: Clock
  env?: Readonly<Record<string, string | undefined>>
  /** Runs exec plug-ins. */
  run?: RunCommand
  isTerminal?: boolean
}

/**
 * Returns the access to a cluster as kubectl would: from the given file, the files of KUBECONFIG, ~/.kube/config, or as
 * a pod of the cluster. Rejects with one sentence that says what is missing.
 */
export async function loadAccess(options: LoadOptions = {}): Promise<ClusterAccess> {
  const { clock = systemClock, env = process.env, isTerminal = process.stdin.isTTY === true } = options
  const config = await loadConfig(options.file, env)
  const isChosen = options.file || options.context || options.cluster || options.user
  if (isEmptyConfig(config)) {
    if (!isChosen && isInCluster(env)) return inClusterAccess({ clock, env })
    throw new Error(`no kubeconfig found: ${places(options.file, env)}`)
  }
  return clusterAccess(config, options, { clock, env, isTerminal, run: options.run ?? processRunner(clock) })
}

async function loadConfig(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Config> {
  if (file) {
    const config = await readFileConfig(file)
    if (!config) throw new Error(`kubeconfig ${file} does not exist`)
    return config
  }
  const configs = await Promise.all(defaultFiles(env).map(readFileConfig))
  return mergeConfigs(configs.filter((c) => c !== undefined))
}

/** Returns the files of KUBECONFIG without duplicates, or the file in the home directory. */
function defaultFiles(env: Readonly<Record<string, string | undefined>>): string[] {
  if (!env.KUBECONFIG) return [path.join(env.HOME || homedir(), '.kube', 'config')]
  return [...new Set(env.KUBECONFIG.split(path.delimiter).filter((f) => f !== ''))]
}

function places(file: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  if (file) return `${file} is empty`
  const files = defaultFiles(env)
  return `${files.join(' and ')} ${files.length === 1 ? 'does' : 'do'} not exist or ${files.length === 1 ? 'is' : 'are'} empty`
}

/** Reads a kubeconfig; undefined if the file does not exist. */
async function readFileConfig(file: string): Promise<Config | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Error(`kubeconfig ${file} cannot be read: ${code === 'EACCES' ? 'permission denied' : message}`, {
      cause: e,
    })
  }
  let value: unknown
  try {
    ;({ value } = parseYaml(text))
  } catch (e) {
    throw new Error(`kubeconfig ${file} is not YAML: ${(e as Error).message}`, { cause: e })
  }
  return readConfig(value, path.resolve(file))
}
