/*
 * Reads details of a verbose response. Each runtime has its own format: a missing detail is undefined, and callers work
 * without it.
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

/** The directory of a runtime's persistent state. */
export function stateDirectoryOf(details: Details): string | undefined {
  const { containerdRootDir, rootDir } = read(details, 'config')
  return [containerdRootDir, rootDir].find((value): value is string => typeof value === 'string')
}

/** The image of sandboxes. Runtimes that do not pin it report it only here. */
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
