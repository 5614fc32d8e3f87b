/** Parses major, minor and patch. Unreadable parts count as 0. */
function partsOf(version: string): readonly [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.\-+]/).map((part) => Number.parseInt(part, 10) || 0)
  return [major, minor, patch]
}

/** Progress requests exist since etcd 3.4. */
export function isSupported(version: string): boolean {
  const [major, minor] = partsOf(version)
  return major > 3 || (major === 3 && minor >= 4)
}

/**
 * Returns true if a progress response is never ahead of events (etcd issue 15220) and is also sent on a new watch
 * (issue 17507). Kubernetes requires the same releases.
 */
export function hasReliableProgress(version: string): boolean {
  const [major, minor, patch] = partsOf(version)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}
