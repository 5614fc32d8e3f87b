import https from 'node:https'

/** What a process says of itself; nobody vouches for its certificate. */
export const ask = (url: string, path: string): Promise<{ code: number; text: string }> =>
  new Promise((resolve, reject) => {
    https
      .get(new URL(path, url), { rejectUnauthorized: false, agent: false }, async (response) => {
        let text = ''
        for await (const chunk of response) text += String(chunk)
        resolve({ code: response.statusCode ?? 0, text })
      })
      .on('error', reject)
  })
