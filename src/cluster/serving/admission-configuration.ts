import path from 'node:path'
import { parseYaml } from '../../api/json/index.ts'
import { readFlagFile } from './flag-files.ts'
import { isFields } from '../../api/object.ts'

type Members = Record<string, unknown>

const flag = '--admission-control-config-file'
const apiVersions = ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1']

/** Reads an AdmissionConfiguration. Returns the configuration of each plugin, inline or from a file that it names. */
export function readAdmissionConfiguration(file: string): Map<string, Members> {
  const { apiVersion, kind, plugins = [] } = readMembers(file)
  if (kind !== 'AdmissionConfiguration' || !apiVersions.includes(apiVersion as string)) {
    throw new Error(`${flag}: ${file}: no kind "${kind as string}" is registered for version "${apiVersion as string}"`)
  }
  if (!Array.isArray(plugins)) throw new Error(`${flag}: ${file}: plugins must be a list`)
  const found = new Map<string, Members>()
  for (const plugin of plugins as unknown[]) {
    if (!isMembers(plugin) || typeof plugin.name !== 'string') {
      throw new Error(`${flag}: ${file}: each plugin must have a name`)
    }
    const own = plugin.configuration ?? fromPath(file, plugin.path)
    if (own !== undefined && !isMembers(own)) {
      throw new Error(`${flag}: ${file}: the configuration of ${plugin.name} must be an object`)
    }
    // The first entry of a plugin wins.
    if (own && !found.has(plugin.name)) found.set(plugin.name, own)
  }
  return found
}

const isMembers = (value: unknown): value is Members => isFields(value)

/** Reads a referenced file; relative paths start at the directory of `file`. */
const fromPath = (file: string, beside: unknown): Members | undefined =>
  typeof beside === 'string' && beside !== '' ? readMembers(path.resolve(path.dirname(file), beside)) : undefined

function readMembers(file: string): Members {
  const text = readFlagFile(flag, file)
  let value: unknown
  try {
    value = parseYaml(text).value
  } catch (e) {
    throw new Error(`${flag}: ${file}: ${(e as Error).message}`, { cause: e })
  }
  if (!isMembers(value)) throw new Error(`${flag}: ${file}: must be an object`)
  return value
}
