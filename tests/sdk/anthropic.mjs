// SPDX-License-Identifier: MIT
// anthropic.mjs -- scenes with Anthropic's client. usage: node anthropic.mjs NPM_FOLDER [SCENE…]

import { load, ofError, play, schema, tools, wanted } from "./scenes.mjs";

const Anthropic = load("@anthropic-ai/sdk");
const client = new Anthropic();

function asks(text, more) {
  return { model: "m-1", max_tokens: 99, messages: [{ role: "user", content: text }], ...more };
}

const described = Object.keys(tools).map((name) => ({ name, description: `The tool ${name}.`, input_schema: schema }));

async function abandons(stream, controller) {
  const heard = [];
  try {
    for await (const e of stream) {
      heard.push(e.type);
      if (e.type === "content_block_delta") controller.abort(); // nothing follows it
    }
  } catch (e) {
    return { heard, ...ofError(e) };
  }
  return { heard };
}

await play({
  // The helper puts the message together.
  stream: async () => {
    const heard = [];
    const stream = client.messages.stream(asks("stream"));
    for (const kind of ["text", "thinking", "signature", "inputJson", "contentBlock", "message"])
      stream.on(kind, (...told) => heard.push([kind, told[0]]));
    return { message: await stream.finalMessage(), heard, request: stream.request_id };
  },

  // The model asks for tools, and gets their results, until it needs none.
  tools: async () => {
    const body = asks("tools", { tools: described, thinking: { type: "enabled", budget_tokens: 50 } });
    for (;;) {
      const message = await client.messages.stream(body).finalMessage();
      body.messages.push({ role: "assistant", content: message.content });
      if (message.stop_reason !== "tool_use") return body.messages;
      const results = message.content.filter((b) => b.type === "tool_use")
        .map((b) => ({ type: "tool_result", tool_use_id: b.id, content: tools[b.name](b.input) }));
      body.messages.push({ role: "user", content: results });
    }
  },

  // The same by the client's own runner, without streaming.
  runner: async () => {
    const own = described.map((tool) => ({ ...tool, run: tools[tool.name] }));
    const runner = client.beta.messages.toolRunner(asks("runner", { tools: own }));
    return { last: await runner.runUntilDone(), all: runner.params.messages };
  },

  create: async () => {
    const { data, response, request_id } = await client.messages.create(asks("create")).withResponse();
    return { data, request_id, left: response.headers.get("x-ratelimit-remaining") };
  },

  events: async () => {
    const heard = [];
    for await (const e of await client.messages.create(asks("events", { stream: true }))) heard.push(e);
    return heard;
  },

  count: () => client.messages.countTokens({ model: "m-1", messages: [{ role: "user", content: "count" }] }),

  models: async () => {
    const found = [];
    for await (const one of client.models.list({ limit: 2 })) found.push(one);
    return found;
  },

  // The client tries again by itself: 429, 529, and then an answer.
  retry: () => client.messages.create(asks("retry")),

  refused: () => client.messages.create(asks("refused")),

  busy: () => client.messages.create(asks("busy"), { maxRetries: 0 }),

  // The stream tells of an error in its midst.
  fails: () => client.messages.stream(asks("fails")).finalMessage(),

  // It breaks off: how much of it had been heard is chance.
  breaks: async () => {
    const { thrown } = await client.messages.stream(asks("breaks"), { maxRetries: 0 }).finalMessage().catch(ofError);
    return { thrown };
  },

  abort: async () => {
    const controller = new AbortController();
    const body = asks("abort", { stream: true });
    return abandons(await client.messages.create(body, { signal: controller.signal }), controller);
  },

  // It is asked for by name only, where it was never recorded.
  ...(wanted.includes("none") && { none: () => client.messages.create(asks("none")) }),
});
