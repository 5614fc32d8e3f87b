/** A rejected request, with the server's message. */
export class Refused extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

async function answerOf<T>(response: Response): Promise<T> {
  const value = (await response.json().catch(() => ({}))) as T & { message?: string }
  if (!response.ok) throw new Refused(response.status, value.message ?? `the server answered ${response.status}`)
  return value
}

/** Sends a GET request to the dashboard's server. */
export async function ask<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const text = new URLSearchParams(query).toString()
  return answerOf<T>(await fetch(`/api/${path}${text ? `?${text}` : ''}`))
}

/** Sends a POST request to the dashboard's server. */
export async function tell<T>(path: string, body: object): Promise<T> {
  return answerOf<T>(
    await fetch(`/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
}
