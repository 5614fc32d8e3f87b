/** Counts the changes of a DaemonSet's template, for clients of old. The server keeps it; a user may set it at creation only. */
export const templateGenerationAnnotation = 'deprecated.daemonset.template.generation'
