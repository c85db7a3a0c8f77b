# frozen_string_literal: true

# Loaded into a Ruby process whose library gets hostile documents (docs/safety.md), which name this
# class. It writes a file into the working folder, a sandbox, when one of its methods runs, and at
# exit if an object of it was created; it does nothing else.
class RegaugeProbe
  def self.ran(name) = File.write("regauge-method", name)

  def self._load(_bytes)
    ran("_load")
    new
  end

  def self.json_create(_members)
    ran("json_create")
    new
  end

  def marshal_load(_value) = RegaugeProbe.ran("marshal_load")

  def init_with(_coder) = RegaugeProbe.ran("init_with")

  def hash
    RegaugeProbe.ran("hash")
    0
  end
end

at_exit do
  made = ObjectSpace.each_object(RegaugeProbe).first
  File.write("regauge-object", "made") if made
rescue StandardError
  # JRuby does not list objects unless told to: then nothing is claimed.
end
