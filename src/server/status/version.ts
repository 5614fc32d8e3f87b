/** The Kubernetes version of the served API. */
export const kubernetesVersion = { major: '1', minor: '36', gitVersion: 'v1.36.4' }

/** The document of /version, by which clients choose features. */
export const versionInfo = (release: string) => ({
  ...kubernetesVersion,
  gitVersion: `${kubernetesVersion.gitVersion}+coxswain.${release}`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
})
