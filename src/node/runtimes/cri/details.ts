/*
 * Reads the details of a verbose answer. Each runtime has its own form: a detail that is not there is undefined, and
 * callers do without it.
 */

type Details = Readonly<Record<string, string>>

function read(details: Details, name: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(details[name] ?? '{}') as unknown
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The process that holds the namespaces of a sandbox. */
export function pidOf(details: Details): number | undefined {
  const { pid } = read(details, 'info')
  return typeof pid === 'number' && pid > 0 ? pid : undefined
}

/** The directory in which a runtime keeps what it has to know after a restart. */
export function stateDirectoryOf(details: Details): string | undefined {
  const { containerdRootDir, rootDir } = read(details, 'config')
  return [containerdRootDir, rootDir].find((value): value is string => typeof value === 'string')
}

/** The image of sandboxes. Runtimes that do not pin it themselves say it only here. */
export function sandboxImageOf(details: Details): string | undefined {
  const { sandboxImage } = read(details, 'config')
  return typeof sandboxImage === 'string' ? sandboxImage : undefined
}

/** True if systemd makes the cgroups of the default runtime. */
export function usesSystemd(details: Details): boolean {
  const { containerd } = read(details, 'config') as {
    containerd?: { defaultRuntimeName?: string; runtimes?: Record<string, { options?: { SystemdCgroup?: unknown } }> }
  }
  return containerd?.runtimes?.[containerd.defaultRuntimeName ?? 'runc']?.options?.SystemdCgroup === true
}
